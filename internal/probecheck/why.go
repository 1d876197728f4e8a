package probecheck

import (
	"bytes"
	"encoding/hex"
	"fmt"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// guessUpTo bounds the work of trying out mistakes.
const guessUpTo = 10_000 // iterations

const noGuess = "check the order and the meaning of the arguments: prf, iterations, length of the key in bytes, salt and password in hex"

// guess says what mistake would lead to the wrong key; again says that the
// key was the answer to an earlier request, too.
func guess(e *probe.KeyError, again bool) string {
	r, got, want := e.Request, e.Got, e.Want
	size := r.PRF.Size()
	zero := len(bytes.Trim(got, "\x00")) == 0
	switch {
	case len(got) != len(want):
		return fmt.Sprintf("answer with a key of %s, as the request says", byteCount(r.KeyBytes))
	case zero:
		return "it is all zero: answer `error MESSAGE` where the library fails, and look at the result that it returns"
	case len(got) > size && bytes.Equal(got[:size], want[:size]):
		return "only its first block is right: the key's length must be given to the derivation, which counts its blocks up"
	}
	if r.Iterations <= guessUpTo {
		for _, m := range mistakes {
			made := r
			if !m.make(&made) {
				continue
			}
			key, err := workload.Key(made.PRF, string(made.Password), made.Salt, made.Iterations, made.KeyBytes)
			if err == nil && bytes.Equal(key, got) {
				return m.mend
			}
		}
	}
	if again {
		return "it is the key of an earlier request: derive every key anew, from the values of its own request"
	}
	return noGuess
}

// mistakes change a request as a probe might that reads it wrongly; false
// where the mistake makes no difference to it.
var mistakes = []struct {
	make func(*probe.Request) bool
	mend string
}{
	{func(r *probe.Request) bool { r.Iterations--; return r.Iterations > 0 }, "it has one iteration too few: the first one counts"},
	{func(r *probe.Request) bool { r.Iterations++; return true }, "it has one iteration too many: the first one counts"},
	{func(r *probe.Request) bool { r.Salt, r.Password = r.Password, r.Salt; return true }, "salt and password are swapped: the salt comes first in the request"},
	{func(r *probe.Request) bool { r.Salt = hexText(r.Salt); return true }, "the salt was used as it is written: decode its hex, and read - as none"},
	{func(r *probe.Request) bool { r.Password = hexText(r.Password); return true }, "the password was used as it is written: decode its hex, and read - as none"},
	{func(r *probe.Request) bool {
		r.Salt, r.Password = hexText(r.Salt), hexText(r.Password)
		return true
	}, "salt and password were used as they are written: decode their hex, and read - as none"},
	{func(r *probe.Request) bool { return cutAt(&r.Password, bytes.IndexByte(r.Password, 0)) }, "the password was cut at its zero byte: pass its length on"},
	{func(r *probe.Request) bool { return cutAt(&r.Salt, bytes.IndexByte(r.Salt, 0)) }, "the salt was cut at its zero byte: pass its length on"},
	{func(r *probe.Request) bool { return cutAt(&r.Password, 64) }, "the password was cut to 64 bytes: pass all of it on"},
	{func(r *probe.Request) bool { return cutAt(&r.Password, 128) }, "the password was cut to 128 bytes: pass all of it on"},
	{other(workload.SHA1), "it is the key of sha1: use the prf of the request"},
	{other(workload.SHA256), "it is the key of sha256: use the prf of the request"},
	{other(workload.SHA512), "it is the key of sha512: use the prf of the request"},
}

func other(prf workload.PRF) func(*probe.Request) bool {
	return func(r *probe.Request) bool {
		differs := r.PRF != prf
		r.PRF = prf
		return differs
	}
}

// hexText is a value as a request has it.
func hexText(v []byte) []byte {
	if len(v) == 0 {
		return []byte("-")
	}
	return []byte(hex.EncodeToString(v))
}

func cutAt(v *[]byte, n int) bool {
	if n < 0 || n >= len(*v) {
		return false
	}
	*v = (*v)[:n]
	return true
}

func byteCount(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return workload.Group(n) + " bytes"
}
