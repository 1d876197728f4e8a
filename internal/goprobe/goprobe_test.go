package goprobe

import (
	"bytes"
	"runtime/debug"
	"strings"
	"testing"
)

func TestMode(t *testing.T) {
	got := mode("", []debug.BuildSetting{
		{Key: "-compiler", Value: "gc"}, {Key: "-gcflags", Value: "-N -l"}, {Key: "CGO_ENABLED", Value: "1"},
		{Key: "DefaultGODEBUG", Value: "panicnil=1,fips140=on"}, {Key: "GOAMD64", Value: "v1"}, {Key: "vcs.revision", Value: "abc"}, {Key: "GOEXPERIMENT", Value: ""},
	}, "cpu.sha=off,x=1")
	if want := "-gcflags=-N_-l,fips140=on,GOAMD64=v1,GODEBUG=cpu.sha=off,x=1"; got != want {
		t.Errorf("mode %q, want %q", got, want)
	}
	if got := mode("", nil, ""); got != "" {
		t.Errorf("mode %q of nothing", got)
	}
	if got := word(strings.Repeat("é\n ", 100)); len(got) != 200 || strings.Trim(got, "_") != "" {
		t.Errorf("word %q", got)
	}
}

func TestRunRestoresTheCollector(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	if err := Run(strings.NewReader(""), new(bytes.Buffer), false); err != nil {
		t.Error(err)
	}
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("GC percent %d after Run", got)
	}
}
