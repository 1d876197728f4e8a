package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/stats"
)

// The plots' measures, px.
const (
	plotWidth, plotHeight  = 720, 400
	plotLeft, plotTop      = 60, 50
	plotRight, plotBottom  = 130, 60
	plotInner, plotInnerUp = plotWidth - plotLeft - plotRight, plotHeight - plotTop - plotBottom
)

// colours of the lines: told apart by people who see no red or green, too.
var colours = []string{"#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8a8a"}

// plotPower draws the share of alarms of the gate's pairs over the threshold, a
// line for each truth: what is found, and for +0 % what is invented.
func plotPower(w io.Writer, trials []trial, load string) error {
	var s strings.Builder
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">
<rect width="%d" height="%d" fill="#fff"/>
<text x="%d" y="24" font-size="15" font-weight="bold">Share of pairs called a drift, load: %s</text>
`, plotWidth, plotHeight, plotWidth, plotHeight, plotLeft, load)
	lo, hi := math.Log(thresholds[0]), math.Log(thresholds[len(thresholds)-1])
	x := func(th float64) float64 { return plotLeft + plotInner*(math.Log(th)-lo)/(hi-lo) }
	y := func(share float64) float64 { return plotTop + plotInnerUp*(1-share) }
	for _, share := range []float64{0, 0.25, 0.5, 0.75, 1} {
		fmt.Fprintf(&s, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%.0f %%</text>
`, plotLeft, plotLeft+plotInner, y(share), y(share), plotLeft-8, y(share)+4, 100*share)
	}
	for _, th := range thresholds {
		fmt.Fprintf(&s, `<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="#999"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>
`, x(th), x(th), plotTop+plotInnerUp, plotTop+plotInnerUp+5, x(th), plotTop+plotInnerUp+20, percent(th))
	}
	fmt.Fprintf(&s, `<text x="%d" y="%d" text-anchor="middle">threshold</text>
`, plotLeft+plotInner/2, plotHeight-14)
	for i, truth := range truthsOf(trials, load) {
		colour := colours[i%len(colours)]
		var points []string
		var last, n float64
		for j, th := range thresholds {
			c := pairRule(th).count(trials, load, truth)
			n = float64(c.n)
			last = float64(c.alarms) / n
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(thresholds[j]), y(last)))
			fmt.Fprintf(&s, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>
`, x(thresholds[j]), y(last), colour)
		}
		fmt.Fprintf(&s, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>
<text x="%d" y="%d" fill="%s">%s (%.0f)</text>
`, strings.Join(points, " "), colour, plotLeft+plotInner+15, plotTop+18*i+5, colour, truthLabel(truth), n)
	}
	s.WriteString("</svg>\n")
	_, err := io.WriteString(w, s.String())
	return err
}

// errorScale is the least scale, per cent, that holds nine in ten intervals.
func errorScale(trials []trial, load string) float64 {
	var ends []float64
	for _, truth := range truthsOf(trials, load) {
		t, err := parseTruth(truth)
		if err != nil {
			continue
		}
		for _, iv := range intervals(trials, load, truth) {
			ends = append(ends, 100*max((1+iv.Hi)/(1+t.extra/100)-1, 1-(1+iv.Lo)/(1+t.extra/100)))
		}
	}
	for _, most := range []float64{0.2, 0.5} {
		if stats.Quantile(ends, 0.9) <= most {
			return most
		}
	}
	return 1
}

// plotErrors draws each pair's change less the truth, with its interval, per
// cent: a column for each truth.
func plotErrors(w io.Writer, trials []trial, load string) error {
	most := errorScale(trials, load) // per cent; beyond is drawn at the edge
	var s strings.Builder
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">
<rect width="%d" height="%d" fill="#fff"/>
<text x="%d" y="24" font-size="15" font-weight="bold">What a pair reads beyond the truth, and its interval, load: %s</text>
`, plotWidth, plotHeight, plotWidth, plotHeight, plotLeft, load)
	y := func(e float64) float64 {
		return plotTop + plotInnerUp*(0.5-min(max(e, -most), most)/(2*most))
	}
	for _, e := range []float64{-most, -most / 2, 0, most / 2, most} {
		fmt.Fprintf(&s, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%+.2g %%</text>
`, plotLeft, plotWidth-20, y(e), y(e), plotLeft-8, y(e)+4, e)
	}
	truths := truthsOf(trials, load)
	width := float64(plotWidth-20-plotLeft) / float64(len(truths))
	for i, truth := range truths {
		left := plotLeft + width*float64(i)
		fmt.Fprintf(&s, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>
`, left+width/2, plotHeight-20, truthLabel(truth))
		t, err := parseTruth(truth)
		if err != nil {
			return err
		}
		read := intervals(trials, load, truth)
		for j, iv := range read {
			at := left + width*(float64(j)+0.5)/float64(len(read))*0.9 + width*0.05
			off := func(x float64) float64 { return 100 * ((1+x)/(1+t.extra/100) - 1) }
			fmt.Fprintf(&s, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="#0072b2" stroke-opacity="0.4"/><circle cx="%.1f" cy="%.1f" r="2.5"/>
`, at, at, y(off(iv.Lo)), y(off(iv.Hi)), at, y(off(iv.Est)))
		}
	}
	s.WriteString("</svg>\n")
	_, err := io.WriteString(w, s.String())
	return err
}
