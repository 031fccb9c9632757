package mysql

import (
	"bytes"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // The protocol says so.
	"crypto/sha256"
	"crypto/subtle"
)

// maxCachedLogins bounds the memory of full authentications that succeeded. Beyond it the cache starts anew.
const maxCachedLogins = 10_000

// cachedLogin is what a full authentication showed. The clear password is kept because logins to backends need it.
type cachedLogin struct {
	stage2   [sha256.Size]byte
	password string
}

// openSHA2 checks an answer by caching_sha2_password: fast when the password is known, else by asking for it.
func (a *Authenticator) openSHA2(c *Conn, cred Credential, answer []byte) (Secret, bool, error) {
	const fastOK, fullAuth, wantKey = 3, 4, 2
	known, hit := a.knownPassword(cred)
	if hit && checkSHA2(c.salt, answer, known.stage2) {
		return ClearSecret(known.password), true, c.WritePacket([]byte{headMoreData, fastOK})
	}
	if err := c.WritePacket([]byte{headMoreData, fullAuth}); err != nil {
		return Secret{}, false, err
	}
	sealed, err := c.ReadPacket(maxLoginPacket)
	if err != nil {
		return Secret{}, false, refuseBroken(c, err)
	}
	// Over TLS and Unix sockets the password comes in clear, whatever its length. A client that wants the key seals it.
	inClear := c.Secure()
	if len(sealed) == 1 && sealed[0] == wantKey {
		inClear = false
		if err := c.WritePacket(append([]byte{headMoreData}, a.public...)); err != nil {
			return Secret{}, false, err
		}
		if sealed, err = c.ReadPacket(maxLoginPacket); err != nil {
			return Secret{}, false, refuseBroken(c, err)
		}
	}
	a.slots <- struct{}{}
	defer func() { <-a.slots }()
	var password string
	var ok bool
	if inClear {
		password, ok = cutNUL(sealed)
	} else {
		password, ok = a.unseal(sealed, c.salt)
	}
	return ClearSecret(password), ok && a.checkPassword(cred, password), nil
}

// unseal opens the password of a full authentication over a line that others may read. MariaDB's client library sends it in clear and with a NUL where
// others encrypt; refusing it then would not take it off the line again.
func (a *Authenticator) unseal(sealed, salt []byte) (string, bool) {
	if len(sealed) != a.key.Size() {
		return cutNUL(sealed)
	}
	masked, err := rsa.DecryptOAEP(sha1.New(), nil, a.key, sealed, nil) //nolint:gosec // The protocol says SHA-1.
	if err != nil {
		return "", false
	}
	for i := range masked {
		masked[i] ^= salt[i%len(salt)]
	}
	return cutNUL(masked)
}

// cutNUL takes off the NUL that must end a password.
func cutNUL(b []byte) (password string, ended bool) {
	b, ended = bytes.CutSuffix(b, []byte{0})
	return string(b), ended
}

// knownPassword returns what fast authentication needs.
func (a *Authenticator) knownPassword(cred Credential) (cachedLogin, bool) {
	if cred.kind == kindClear {
		return cachedLogin{stage2: sha2Stage2(cred.text), password: cred.text}, true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	known, hit := a.cached[cred.text]
	return known, hit
}

// checkPassword checks a clear password, and remembers one that fits a hash.
func (a *Authenticator) checkPassword(cred Credential, password string) bool {
	if cred.kind == kindClear {
		return subtle.ConstantTimeCompare([]byte(cred.text), []byte(password)) == 1
	}
	if !matchesSHA2Hash(cred.text, password) {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.cached) >= maxCachedLogins {
		clear(a.cached)
	}
	a.cached[cred.text] = cachedLogin{stage2: sha2Stage2(password), password: password}
	return true
}
