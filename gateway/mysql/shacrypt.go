package mysql

import (
	"crypto/sha256"
	"crypto/subtle"
	"strconv"
)

// A caching_sha2_password hash text is $A$, three hex digits (thousands of rounds), $, a 20-byte salt of any bytes,
// and the 43 digits of SHA-crypt with SHA-256 (https://www.akkadia.org/drepper/SHA-crypt.txt), here with a 20-byte salt.
const (
	sha2HashLen  = 70
	sha2SaltFrom = 7
	sha2SaltLen  = 20
)

// maxPassword is the longest password that is hashed, in bytes, as in MySQL.
const maxPassword = 256

// isSHA2Hash tells a hash text from a clear password.
func isSHA2Hash(text string) bool {
	if len(text) != sha2HashLen || text[:3] != "$A$" || text[6] != '$' {
		return false
	}
	rounds, err := strconv.ParseUint(text[3:6], 16, 16)
	return err == nil && rounds > 0
}

// matchesSHA2Hash checks a clear password against a hash text.
func matchesSHA2Hash(text, password string) bool {
	if !isSHA2Hash(text) || len(password) > maxPassword {
		return false
	}
	thousands, err := strconv.ParseUint(text[3:6], 16, 16)
	if err != nil {
		return false
	}
	digest := shaCrypt(password, text[sha2SaltFrom:sha2SaltFrom+sha2SaltLen], int(thousands)*1000)
	return subtle.ConstantTimeCompare([]byte(digest), []byte(text[sha2SaltFrom+sha2SaltLen:])) == 1
}

// shaCrypt returns SHA-crypt's digest in its own base 64.
func shaCrypt(password, salt string, rounds int) string {
	pw, sl := []byte(password), []byte(salt)

	b := sha256.New()
	b.Write(pw)
	b.Write(sl)
	b.Write(pw)
	bSum := b.Sum(nil)

	a := sha256.New()
	a.Write(pw)
	a.Write(sl)
	a.Write(stretch(bSum, len(pw)))
	for n := len(pw); n > 0; n >>= 1 {
		if n&1 != 0 {
			a.Write(bSum)
		} else {
			a.Write(pw)
		}
	}
	sum := a.Sum(nil)

	dp := sha256.New()
	for range pw {
		dp.Write(pw)
	}
	p := stretch(dp.Sum(nil), len(pw))

	ds := sha256.New()
	for range 16 + int(sum[0]) {
		ds.Write(sl)
	}
	s := stretch(ds.Sum(nil), len(sl))

	c := sha256.New()
	for i := range rounds {
		c.Reset()
		if i&1 != 0 {
			c.Write(p)
		} else {
			c.Write(sum)
		}
		if i%3 != 0 {
			c.Write(s)
		}
		if i%7 != 0 {
			c.Write(p)
		}
		if i&1 != 0 {
			c.Write(sum)
		} else {
			c.Write(p)
		}
		sum = c.Sum(sum[:0])
	}
	return cryptBase64(sum)
}

// stretch repeats sum up to n bytes.
func stretch(sum []byte, n int) []byte {
	out := make([]byte, 0, n+len(sum))
	for len(out) < n {
		out = append(out, sum...)
	}
	return out[:n]
}

// cryptBase64 writes a SHA-256 sum in SHA-crypt's order of bytes and its alphabet.
func cryptBase64(sum []byte) string {
	const alphabet = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	out := make([]byte, 0, 43)
	digits := func(hi, mid, lo byte, n int) {
		v := uint(hi)<<16 | uint(mid)<<8 | uint(lo)
		for range n {
			out = append(out, alphabet[v&63])
			v >>= 6
		}
	}
	x, y, z := 0, 10, 20
	for range 10 {
		digits(sum[x], sum[y], sum[z], 4)
		x, y, z = z+1, x+1, y+1
	}
	digits(0, sum[31], sum[30], 3)
	return string(out)
}
