package probe

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// Deriver derives a key. It must not keep salt, which is used again. Its
// error, or what it panics with, is sent as the answer.
type Deriver func(prf workload.PRF, password string, salt []byte, iterations, keyBytes int) ([]byte, error)

// Serve is a probe: it writes hello, then answers the requests from r on w
// until r ends, which is no error. derive alone is timed.
//
// The measuring side shares the core and goes on as soon as it has the
// answer, so nothing avoidable is done after one: Serve reads and writes in
// memory that it allocates at the start. Garbage of derive's stays; the
// caller turns the collector off. r and w are used from the caller's
// goroutine alone and should be files in blocking mode.
func Serve(r io.Reader, w io.Writer, hello Hello, derive Deriver) error {
	out := hello.Append(make([]byte, 0, MaxLine))
	if h, err := ParseHello(out[:len(out)-1]); err != nil || len(out) > MaxLine || !maps.Equal(h.Words, hello.Words) {
		return fmt.Errorf("%s cannot be a probe's first line: use %s", quoted(out), wantHello)
	}
	s := server{derive: derive}
	in := bufio.NewReaderSize(r, MaxLine)
	for {
		if _, err := w.Write(out); err != nil {
			return fmt.Errorf("writing an answer: %w", err)
		}
		line, err := in.ReadSlice('\n')
		switch {
		case err == nil:
			out = s.answer(out[:0], line[:len(line)-1])
		case errors.Is(err, bufio.ErrBufferFull):
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = in.ReadSlice('\n')
			}
			if err != nil {
				return errors.New("the last request is over 64 KiB and has no end")
			}
			out = (&Refusal{"the request is over 64 KiB"}).Append(out[:0])
		case err == io.EOF && len(line) == 0:
			return nil
		case err == io.EOF:
			return fmt.Errorf("the last request was cut off: %s has no line feed", quoted(line))
		default:
			return fmt.Errorf("reading a request: %w", err)
		}
	}
}

// server is what one request leaves for the next.
type server struct {
	derive   Deriver
	req      Request
	password string
}

// answer appends the answer to one request.
func (s *server) answer(out, line []byte) []byte {
	r := &s.req
	if err := r.parse(line); err != nil {
		return (&Refusal{err.Error()}).Append(out)
	}
	if r.KeyBytes > maxKeyBytes {
		return (&Refusal{fmt.Sprintf("a key of %d bytes does not fit an answer: ask for at most %d", r.KeyBytes, maxKeyBytes)}).Append(out)
	}
	if s.password != string(r.Password) {
		s.password = string(r.Password)
	}
	key, elapsed, err := s.timed()
	if err != nil {
		return (&Refusal{err.Error()}).Append(out)
	}
	return Answer{Key: key, Elapsed: elapsed}.Append(out)
}

// timed is the derivation and its time.
func (s *server) timed() (key []byte, elapsed time.Duration, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	start := time.Now()
	key, err = s.derive(s.req.PRF, s.password, s.req.Salt, s.req.Iterations, s.req.KeyBytes)
	elapsed = time.Since(start)
	return key, elapsed, err
}
