package mysql

import (
	"crypto/sha1" //nolint:gosec // The hash of mysql_native_password.
	"encoding/hex"
)

// Credential is what a configuration knows of a user's password.
type Credential struct {
	kind   credentialKind
	text   string          // The clear password or the caching_sha2 hash text.
	stage2 [sha1.Size]byte // SHA1(SHA1(password)) of a native hash.

	secureOnly bool // Good over TLS and Unix sockets only.
}

type credentialKind int

const (
	kindClear credentialKind = iota
	kindNative
	kindSHA2
)

// ParseCredential reads a password as ProxySQL's mysql_users takes it: "*" and 40 hex digits is a native hash, "$A$..."
// of 70 bytes is a caching_sha2_password hash, anything else the clear password; empty means that none is needed.
func ParseCredential(password string) Credential {
	if len(password) == 1+2*sha1.Size && password[0] == '*' {
		if hash, err := hex.DecodeString(password[1:]); err == nil {
			return Credential{kind: kindNative, stage2: [sha1.Size]byte(hash)}
		}
	}
	if isSHA2Hash(password) {
		return Credential{kind: kindSHA2, text: password}
	}
	return Credential{kind: kindClear, text: password}
}

// SecureOnly gives the credential of a user who may log in over TLS or a Unix socket only. Elsewhere it is refused like a
// wrong password.
func (c Credential) SecureOnly() Credential {
	c.secureOnly = true
	return c
}

// plugin is the authentication plugin for a client that would like wanted.
func (c Credential) plugin(wanted string) string {
	switch c.kind {
	case kindNative:
		return PluginNative
	case kindSHA2:
		return PluginCachingSHA2
	case kindClear:
	}
	if wanted == PluginCachingSHA2 {
		return PluginCachingSHA2 // Clients of MySQL 9 have no other.
	}
	return PluginNative
}

// Secret returns what the credential alone gives for logging in to backends, without any client's login.
func (c Credential) Secret() Secret {
	if c.kind == kindClear {
		return ClearSecret(c.text)
	}
	return Secret{}
}

// Secret is what is known of a password when logging in to a backend. The zero value knows nothing. It prints as a
// word and never as its content.
type Secret struct {
	kind     secretKind
	password string
	stage1   [sha1.Size]byte
}

type secretKind int

const (
	secretNone secretKind = iota
	secretClear
	secretNative
)

// ClearSecret is a clear password, which may be empty.
func ClearSecret(password string) Secret { return Secret{kind: secretClear, password: password} }

// NativeSecret is SHA1(password): enough for mysql_native_password, and for nothing else.
func NativeSecret(stage1 [sha1.Size]byte) Secret { return Secret{kind: secretNative, stage1: stage1} }

// Known says whether any login is possible with s.
func (s Secret) Known() bool { return s.kind != secretNone }

// Password returns the clear password, if known.
func (s Secret) Password() (string, bool) { return s.password, s.kind == secretClear }

// NativeAnswer answers the challenge of mysql_native_password, if s allows it. The answer is empty for an empty password.
func (s Secret) NativeAnswer(salt []byte) ([]byte, bool) {
	switch s.kind {
	case secretNone:
		return nil, false
	case secretNative:
		return nativeScramble(salt, s.stage1), true
	case secretClear:
	}
	if s.password == "" {
		return nil, true
	}
	return nativeScramble(salt, sha1.Sum([]byte(s.password))), true //nolint:gosec // As above.
}

// String hides the content.
func (s Secret) String() string { return "[hidden]" }

// GoString hides the content.
func (s Secret) GoString() string { return "[hidden]" }
