//go:build go1.24

package goprobe

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// Derive derives a key: prf is sha1, sha256 or sha512, or anything else that
// was asked for. It must not keep salt, which is used again. Its error, or what
// it panics with, is sent as the answer.
type Derive func(prf, password string, salt []byte, iterations, keyBytes int) ([]byte, error)

const (
	maxLine     = 64 << 10
	maxKeyBytes = (maxLine - len("key  ns 9223372036854775807\n")) / 2
	maxMessage  = 200
)

// Serve is a probe: it writes hello, its first line, then answers the requests
// from r on w until r ends, which is no error. derive alone is timed.
//
// The measuring side shares the core and goes on as soon as it has the
// answer, so nothing avoidable is done after one. Garbage stays; the caller
// turns the collector off. r and w should be files in blocking mode.
func Serve(r io.Reader, w io.Writer, hello string, derive Derive) error {
	s := server{derive: derive, out: make([]byte, 0, maxLine)}
	out := append(s.out, hello+"\n"...)
	in := bufio.NewReaderSize(r, maxLine)
	for {
		if _, err := w.Write(out); err != nil {
			return fmt.Errorf("writing an answer: %w", err)
		}
		line, err := in.ReadSlice('\n')
		switch {
		case err == nil:
			out = s.answer(line[:len(line)-1])
		case errors.Is(err, bufio.ErrBufferFull):
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = in.ReadSlice('\n')
			}
			if err != nil {
				return errors.New("the last request is over 64 KiB and has no end")
			}
			out = s.refuse(errors.New("the request is over 64 KiB"))
		case err == io.EOF && len(line) == 0:
			return nil
		case err == io.EOF:
			return fmt.Errorf("the last request was cut off: %.80q has no line feed", line)
		default:
			return fmt.Errorf("reading a request: %w", err)
		}
	}
}

// server is what one request leaves for the next.
type server struct {
	derive Derive
	out    []byte
	Request
}

// Request asks for one key. PRF is whatever was written.
type Request struct {
	PRF, Password        string
	Iterations, KeyBytes int
	Salt                 []byte
}

// ParseRequest reads a request, without its LF. The error says what to send
// instead.
func ParseRequest(line []byte) (Request, error) {
	var r Request
	err := r.parse(line)
	return r, err
}

// answer is the line that answers one request.
func (s *server) answer(line []byte) []byte {
	if err := s.parse(line); err != nil {
		return s.refuse(err)
	}
	key, elapsed, err := s.timed()
	if err != nil {
		return s.refuse(err)
	}
	out := append(s.out[:0], "key "...)
	out = hex.AppendEncode(out, key)
	out = append(out, " ns "...)
	out = strconv.AppendInt(out, elapsed.Nanoseconds(), 10)
	return append(out, '\n')
}

func (s *server) refuse(err error) []byte {
	out := append(s.out[:0], "error "...)
	text := err.Error()
	if len(text) > maxMessage {
		text = text[:maxMessage]
	}
	for _, c := range []byte(text) {
		switch {
		case c == '\n' || c == '\t' || c == '\r':
			c = ' '
		case c < ' ' || c > '~':
			c = '?'
		}
		out = append(out, c)
	}
	return append(out, '\n')
}

// timed is the derivation and its time.
func (s *server) timed() (key []byte, elapsed time.Duration, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	start := time.Now()
	key, err = s.derive(s.PRF, s.Password, s.Salt, s.Iterations, s.KeyBytes)
	elapsed = time.Since(start)
	return key, elapsed, err
}

const wanted = "send derive PRF ITERATIONS KEY_BYTES SALT_HEX PASSWORD_HEX"

// parse is ParseRequest into the memory that r has; words after the sixth are
// ignored.
func (r *Request) parse(line []byte) error {
	for i, c := range line {
		switch {
		case c == '\r' && i == len(line)-1:
			return errors.New("the line ends in CR LF: end it with LF alone")
		case c < ' ' || c == 0x7f:
			return errors.New("the line has a control character")
		}
	}
	f := bytes.SplitN(line, []byte(" "), 7)
	if string(f[0]) != "derive" {
		return errors.New("unknown request: " + wanted)
	}
	if len(f) < 6 {
		return errors.New("too few words: " + wanted)
	}
	r.PRF = string(f[1])
	var err error
	if r.Iterations, err = number(f[2]); err != nil {
		return fmt.Errorf("iterations: %w", err)
	}
	if r.KeyBytes, err = number(f[3]); err != nil {
		return fmt.Errorf("key bytes: %w", err)
	}
	if r.KeyBytes > maxKeyBytes {
		return fmt.Errorf("a key of %d bytes does not fit an answer: ask for at most %d", r.KeyBytes, maxKeyBytes)
	}
	if r.Salt, err = decode(r.Salt[:0], f[4]); err != nil {
		return fmt.Errorf("salt: %w", err)
	}
	password, err := decode(nil, f[5])
	if err != nil {
		return fmt.Errorf("password: %w", err)
	}
	if r.Password != string(password) {
		r.Password = string(password)
	}
	return nil
}

// number reads a decimal from 1 to 2^32-1, without sign or leading zeros.
func number(b []byte) (int, error) {
	n, err := strconv.ParseUint(string(b), 10, 32)
	if err != nil || n == 0 || b[0] == '0' || b[0] == '+' {
		return 0, errors.New("send a decimal from 1 to 4294967295")
	}
	return int(n), nil
}

// decode appends what lower-case hex, or - for nothing, stands for.
func decode(to, text []byte) ([]byte, error) {
	if string(text) == "-" {
		return to, nil
	}
	to, err := hex.AppendDecode(to, text)
	if err != nil || len(text) == 0 || !bytes.Equal(text, bytes.ToLower(text)) {
		return to, errors.New("send two lower-case hex digits a byte, or - for none")
	}
	return to, nil
}
