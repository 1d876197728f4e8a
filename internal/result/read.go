package result

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A SyntaxError is what is wrong at one line of a file, and what to do.
type SyntaxError struct {
	Name string
	Line int // from 1
	Msg  string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %s", e.Name, e.Line, e.Msg) }

// Read reads a file strictly, as untrusted text: whatever Encode would not
// write is an error, save blank lines, comments (# and text), keys in another
// order and figures with more digits, which are rounded. It cannot see that
// a file was cut exactly between two blocks. Name stands in its errors, which
// are *SyntaxError or r's own.
func Read(r io.Reader, name string) ([]Run, error) {
	return ReadChecked(r, name, func(*Run) error { return nil })
}

// ReadChecked is Read with a further check of every run. Its error gets the
// position of the key where it is a *FieldError, else of the block.
func ReadChecked(r io.Reader, name string, check func(*Run) error) ([]Run, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	p := parser{name: name, check: check}
	if len(data) > MaxFile {
		p.line = 1
		return nil, p.errorf("the file is larger than %d bytes: it is no result file, or has too many releases (`baseline prune` drops old ones)", MaxFile)
	}
	for text := string(data); text != ""; {
		p.line++
		line, rest, whole := strings.Cut(text, "\n")
		if err := p.parseLine(line, whole); err != nil {
			return nil, err
		}
		text = rest
	}
	if err := p.endBlock(); err != nil {
		return nil, err
	}
	if len(p.runs) == 0 {
		p.line = max(p.line, 1)
		return nil, p.errorf("the file holds no block: it was cut short or is no result file; measure or record again")
	}
	return p.runs, nil
}

type parser struct {
	name  string
	check func(*Run) error
	line  int // of the file, from 1
	runs  []Run
	block *block // nil before the first
}

// A block is one run that is being read.
type block struct {
	run    Run
	lines  map[string]int // of the keys so far
	rounds int            // announced; -1 before the key
	at     []int          // lines of its rounds
}

func (p *parser) errorf(format string, args ...any) error {
	return p.errorAt(p.line, format, args...)
}

func (p *parser) errorAt(line int, format string, args ...any) error {
	return &SyntaxError{p.name, line, fmt.Sprintf(format, args...)}
}

func (p *parser) parseLine(line string, whole bool) error {
	switch {
	case len(line) > MaxLine:
		return p.errorf("the line is longer than %d bytes: no result file has such lines; measure or record again", MaxLine)
	case isConflict(line):
		return p.errorf("a merge conflict marker: resolve the conflict (keep the whole blocks of both sides), then check again")
	case strings.HasSuffix(line, "\r"):
		return p.errorf("the line ends with a carriage return: store the file with LF line ends (git: `*.txt text eol=lf`)")
	case !printable(line):
		return p.errorf("a character that is not printable ASCII: remove it, or measure or record again")
	case !whole:
		return p.errorf("the last line does not end with a line feed: the file was cut short; measure or record again")
	case line == "" || line[0] == '#':
		return nil
	case strings.HasPrefix(line, "Benchmark"):
		return p.parseRound(line)
	}
	return p.parseKey(line)
}

func isConflict(line string) bool {
	if len(line) < 7 || len(line) > 7 && line[7] != ' ' {
		return false
	}
	m := line[:7]
	return m == "<<<<<<<" || m == "|||||||" || m == "=======" || m == ">>>>>>>"
}

func (p *parser) parseKey(line string) error {
	key, value, ok := strings.Cut(line, ":")
	if ok && value != "" {
		value, ok = strings.CutPrefix(value, " ")
	}
	if !ok || key == "" || !only(key[:1], lower) || !only(key, lower+digits+"-") {
		return p.errorf("neither `key: value` nor a round: restore the line, or measure or record again")
	}
	if key == "format" {
		return p.startBlock(value)
	}
	b := p.block
	if b == nil {
		return p.errorf("a key before the first `format: %s`, which starts a block: the file was cut, or is no result file", Format)
	}
	if len(b.at) > 0 {
		return p.errorf("a key after the rounds of a block: start the next block with `format: %s`, or measure or record again", Format)
	}
	if at := b.lines[key]; at > 0 {
		return p.errorf("key %s is in this block already (line %d): remove one", quote(key), at)
	}
	b.lines[key] = p.line
	if key == roundsKey {
		n, err := strconv.Atoi(value)
		if err != nil || strconv.Itoa(n) != value || n < 0 || n > maxRounds {
			return p.errorf("rounds %s is not a whole number from 0 to %d: restore the line, or measure or record again", quote(value), maxRounds)
		}
		b.rounds = n
		return nil
	}
	for _, f := range fields {
		if f.key != key {
			continue
		}
		if value == "" {
			if f.optional {
				return nil
			}
			return p.errorf("%s is empty: restore its value, or measure or record again", key)
		}
		if err := f.set(&b.run, value); err != nil {
			return p.errorf("%s %v", key, err)
		}
		return nil
	}
	return p.errorf("unknown key %s: another version of pbkdf2-gate wrote this file, or it was misspelt; update pbkdf2-gate or correct the key", quote(key))
}

func (p *parser) startBlock(format string) error {
	if err := p.endBlock(); err != nil {
		return err
	}
	if format != Format {
		name, version, _ := strings.Cut(Format, "/")
		ours, _ := strconv.Atoi(version)
		its, found := strings.CutPrefix(format, name+"/")
		if n, err := strconv.Atoi(its); found && err == nil && n > ours {
			return p.errorf("format %s is newer than this pbkdf2-gate reads (%s): update pbkdf2-gate", quote(format), Format)
		}
		return p.errorf("format %s is not one that pbkdf2-gate wrote (%s): name a result file", quote(format), Format)
	}
	if len(p.runs) == MaxBlocks {
		return p.errorf("more than %d blocks: split the file (`baseline prune` drops old releases)", MaxBlocks)
	}
	p.block = &block{lines: map[string]int{"format": p.line}, rounds: -1}
	return nil
}

func (p *parser) parseRound(line string) error {
	b := p.block
	if b == nil {
		return p.errorf("a round before the first `format: %s`, which starts a block: the file was cut, or is no result file", Format)
	}
	if len(b.at) == 0 {
		if err := p.endKeys(); err != nil {
			return err
		}
	}
	if len(b.at) == b.rounds {
		return p.errorf("more rounds than the %d that line %d announces: correct `rounds:`, or measure or record again", b.rounds, b.lines[roundsKey])
	}
	round, err := parseRound(line, b.run.Target)
	if err != nil {
		return p.errorf("%v", err)
	}
	b.run.Rounds = append(b.run.Rounds, round)
	b.at = append(b.at, p.line)
	return nil
}

// endKeys says which key the block lacks, or what is wrong with one.
func (p *parser) endKeys() error {
	for _, f := range fields {
		if !f.optional && p.block.lines[f.key] == 0 {
			return p.errorf("the block that starts at line %d has no `%s:`: the file was cut or edited; measure or record again", p.block.lines["format"], f.key)
		}
	}
	if p.block.rounds < 0 {
		return p.errorf("the block that starts at line %d has no `%s:`: the file was cut or edited; measure or record again", p.block.lines["format"], roundsKey)
	}
	if err := p.block.run.validateFields(p.block.rounds); err != nil {
		return p.errorOf(p.block, err)
	}
	return nil
}

// endBlock checks the block as a whole and keeps its run.
func (p *parser) endBlock() error {
	b := p.block
	if b == nil {
		return nil
	}
	if len(b.at) == 0 {
		if err := p.endKeys(); err != nil {
			return err
		}
	}
	if len(b.at) < b.rounds {
		return p.errorf("the block ends after %d of the %d rounds that line %d announces: the file was cut or edited; measure or record again", len(b.at), b.rounds, b.lines[roundsKey])
	}
	for i := range b.run.Rounds {
		if err := b.run.Rounds[i].validate(b.run.Plan); err != nil {
			return p.errorAt(b.at[i], "%v", err)
		}
	}
	if err := p.check(&b.run); err != nil {
		return p.errorOf(b, err)
	}
	p.runs = append(p.runs, b.run)
	p.block = nil
	return nil
}

// errorOf gives err, about the block, its position.
func (p *parser) errorOf(b *block, err error) error {
	line := b.lines["format"]
	if f, ok := errors.AsType[*FieldError](err); ok && b.lines[f.Key] > 0 {
		line = b.lines[f.Key]
	}
	return p.errorAt(line, "%v", err)
}
