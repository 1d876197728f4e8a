//go:build go1.24

package goprobe

import "golang.org/x/crypto/pbkdf2"

// xcrypto is golang.org/x/crypto's PBKDF2: until v0.51.0 a loop of its own,
// then the standard library's. It panics where that returns an error; Serve
// makes an answer of it.
func xcrypto(prf, password string, salt []byte, iterations, keyBytes int) ([]byte, error) {
	h, err := hashOf(prf)
	if err != nil {
		return nil, err
	}
	return pbkdf2.Key([]byte(password), salt, iterations, keyBytes, h), nil
}
