package workload

import (
	_ "embed"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

//go:embed answers.tsv
var answersTSV string

// Answer is one derivation with its known key.
type Answer struct {
	PRF            PRF
	Password, Salt []byte
	Iterations     int
	Key            []byte
	Source         string
}

// Answers are derivations whose keys are published, or were computed by two
// independent implementations. The table is part of the program: it panics
// where that is damaged, which a test would show.
func Answers() []Answer {
	var all []Answer
	for i, line := range strings.Split(strings.TrimSpace(answersTSV), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		a, err := parseAnswer(strings.Split(line, "\t"))
		if err != nil {
			panic(fmt.Sprintf("answers.tsv:%d: %v", i+1, err))
		}
		all = append(all, a)
	}
	return all
}

func parseAnswer(f []string) (Answer, error) {
	if len(f) != 7 {
		return Answer{}, fmt.Errorf("%d fields, not 7", len(f))
	}
	prf, err := ParsePRF(f[0])
	if err != nil {
		return Answer{}, err
	}
	a := Answer{PRF: prf, Source: f[6]}
	for _, h := range []struct {
		to   *[]byte
		from string
	}{{&a.Password, f[1]}, {&a.Salt, f[2]}, {&a.Key, f[5]}} {
		if h.from == "-" {
			continue
		}
		if *h.to, err = hex.DecodeString(h.from); err != nil {
			return Answer{}, err
		}
	}
	if a.Iterations, err = strconv.Atoi(f[3]); err != nil {
		return Answer{}, err
	}
	if strconv.Itoa(len(a.Key)) != f[4] {
		return Answer{}, fmt.Errorf("key of %d bytes, not %s", len(a.Key), f[4])
	}
	return a, nil
}
