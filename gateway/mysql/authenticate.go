package mysql

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // The protocols of both plugins use it.
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"syscall"
)

// maxLoginPacket is the largest packet accepted from a client that has not logged in, in payload bytes.
const maxLoginPacket = 64 << 10

// Lookup finds a user's credential. false means that there is no such user, or that it is not active; the credential is
// then another one, whose steps are gone through all the same, so that nobody learns which users exist.
type Lookup func(user string) (Credential, bool)

// Login is a client's verified login.
type Login struct {
	User   string
	Schema string // As the client named it; empty when it named none.
	Host   string // The client's address without port.
	// Charset is the low byte of the client's collation id.
	Charset byte
	// Capabilities are those offered and asked for.
	Capabilities uint32
	// MaxPacket is the largest packet that the client would send, in bytes; 0 when it does not say.
	MaxPacket uint32
	// Attrs are the connection attributes.
	Attrs map[string]string
	// Secret is what the login proved of the password: the clear one, or SHA1 of it, which suffices for backends with
	// mysql_native_password.
	Secret Secret
}

// Authenticator verifies clients. One serves all connections of a process; it is safe for concurrent use.
type Authenticator struct {
	key    *rsa.PrivateKey
	public []byte        // The key in PEM, as clients ask for it.
	slots  chan struct{} // taken by full authentications, which cost milliseconds of CPU each
	queue  queue

	mu     sync.Mutex
	cached map[string]cachedLogin // By caching_sha2_password hash text.
}

// NewAuthenticator makes an Authenticator with a fresh RSA key, which takes a moment. The key is for
// caching_sha2_password without TLS.
func NewAuthenticator() (*Authenticator, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, fmt.Errorf("make an RSA key: %w", err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("encode the RSA key: %w", err)
	}
	return &Authenticator{
		key:    key,
		public: pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}),
		slots:  make(chan struct{}, runtime.GOMAXPROCS(0)),
		cached: map[string]cachedLogin{},
	}, nil
}

// Handshake greets a client and verifies it, within ctx. On success nothing final was sent: the caller ends the login
// with [Conn.WriteOK] or [Conn.WriteError]. On failure the client was told, if it could be, and the connection is to be
// closed: the error is an [*Error] as sent (1045 for a wrong password and for an unknown user alike), [ErrNoHandshake]
// when the client left without a word, or that of the connection.
func (a *Authenticator) Handshake(ctx context.Context, c *Conn, g Greeting, find Lookup) (*Login, error) {
	var login *Login
	err := c.Within(ctx, func() error {
		var err error
		login, err = a.handshake(ctx, c, g, find)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("handshake: %w", err)
	}
	return login, nil
}

func (a *Authenticator) handshake(ctx context.Context, c *Conn, g Greeting, find Lookup) (*Login, error) {
	g.Salt, g.Plugin = newSalt(), PluginNative
	if c.tlsOffer != nil {
		g.Capabilities |= CapSSL
	}
	c.salt, c.seq = g.Salt, 0
	if err := c.WritePacket(g.Append(nil)); err != nil {
		return nil, err
	}
	payload, err := c.ReadPacket(maxLoginPacket)
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		return nil, ErrNoHandshake
	}
	if err != nil {
		return nil, refuseBroken(c, err)
	}
	leave, err := a.queue.enter(ctx)
	if err != nil {
		return nil, errors.Join(refuse(c, NewError(CodeTooManyConnections, "08004", "Too many logins at once")), err)
	}
	defer leave()
	if c.tlsOffer != nil && isTLSRequest(payload) {
		if err := c.acceptTLS(); err != nil {
			return nil, err
		}
		if payload, err = c.ReadPacket(maxLoginPacket); err != nil {
			return nil, refuseBroken(c, err)
		}
	}
	if c.tlsRequired && !c.Secure() {
		return nil, refuse(c, NewError(CodeSecureTransportRequired, "HY000",
			"Connections using insecure transport are prohibited: this gateway requires TLS"))
	}
	r, err := ParseHandshakeResponse(payload, g.Capabilities)
	if err != nil {
		return nil, refuseBroken(c, err)
	}
	if r.Capabilities&CapSSL != 0 && !c.Encrypted() {
		return nil, refuseBroken(c, fmt.Errorf("login in plain text that asks for TLS: %w", ErrMalformedPacket))
	}
	c.Capabilities = r.Capabilities & g.Capabilities &^ CapSSL
	login := &Login{
		User: r.User, Schema: r.Schema, Host: host(c.nc), Charset: r.Charset,
		Capabilities: c.Capabilities, MaxPacket: r.MaxPacket, Attrs: r.Attrs,
	}
	if r.Plugin == "" {
		r.Plugin = PluginNative
	}
	// The answer lies in the read buffer, which the dance goes on using.
	login.Secret, err = a.verify(c, login, r.Plugin, bytes.Clone(r.Auth), find)
	return login, err
}

// ChangeUser verifies the COM_CHANGE_USER that was just read, within ctx. was is the login so far. What is returned, sent
// and left to the caller is as with [Authenticator.Handshake]; after an error the connection is to be closed, as MySQL does.
func (a *Authenticator) ChangeUser(ctx context.Context, c *Conn, was *Login, find Lookup) (*Login, error) {
	var login *Login
	err := c.Within(ctx, func() error {
		var err error
		login, err = a.changeUser(c, was, find)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("change user: %w", err)
	}
	return login, nil
}

func (a *Authenticator) changeUser(c *Conn, was *Login, find Lookup) (*Login, error) {
	if err := c.Gather(maxLoginPacket + 1); err != nil {
		return nil, err
	}
	if !c.cmd.Complete || len(c.cmd.Payload) > maxLoginPacket {
		// What is left stays unread: there may be no end of it.
		c.cmd.left, c.cmd.more = 0, false
		return nil, refuseBroken(c, ErrPacketTooLarge)
	}
	u, err := parseChangeUser(bytes.Clone(c.cmd.Payload), c.Capabilities)
	if err != nil {
		return nil, refuseBroken(c, err)
	}
	login := *was
	login.User, login.Schema, login.Secret, login.Attrs = u.user, u.schema, Secret{}, u.attrs
	if u.charset != 0 {
		login.Charset = u.charset
	}
	login.Secret, err = a.verify(c, &login, u.plugin, u.auth, find)
	return &login, err
}

// verify runs the rest of the dance, with a client that answered the challenge by the given plugin.
func (a *Authenticator) verify(c *Conn, login *Login, plugin string, answer []byte, find Lookup) (Secret, error) {
	cred, known := find(login.User)
	withPassword := len(answer) > 0
	if want := cred.plugin(plugin); want != plugin {
		if c.Capabilities&CapPluginAuth == 0 {
			return Secret{}, refuse(c, NewError(CodeUnsupportedAuthMode, "08004",
				"Client does not support authentication protocol %s, which user '%s' needs", want, login.User))
		}
		var err error
		if answer, err = c.switchPlugin(want); err != nil {
			return Secret{}, err
		}
		plugin = want
		withPassword = len(answer) > 0
	}
	if len(answer) == 1 && answer[0] == 0 {
		answer, withPassword = nil, false // Some clients send an empty password as a NUL.
	}

	var secret Secret
	var ok bool
	var err error
	switch {
	case len(answer) == 0:
		secret, ok = ClearSecret(""), cred.kind == kindClear && cred.text == ""
	case plugin == PluginNative:
		secret, ok = cred.openNative(c.salt, answer)
	default:
		secret, ok, err = a.openSHA2(c, cred, answer)
	}
	if err != nil {
		return Secret{}, err
	}
	if !ok || !known || cred.secureOnly && !c.Secure() {
		using := "NO"
		if withPassword {
			using = "YES"
		}
		return Secret{}, refuse(c, NewError(CodeAccessDenied, "28000",
			"Access denied for user '%s'@'%s' (using password: %s)", login.User, login.Host, using))
	}
	return secret, nil
}

// switchPlugin asks the client to answer by another plugin. The challenge stays that of the greeting: clients differ in
// which of two they would use for a later COM_CHANGE_USER.
func (c *Conn) switchPlugin(plugin string) ([]byte, error) {
	b := append([]byte{headEOF}, plugin...)
	b = append(append(append(b, 0), c.salt...), 0)
	if err := c.WritePacket(b); err != nil {
		return nil, err
	}
	answer, err := c.ReadPacket(maxLoginPacket)
	if err != nil {
		return nil, refuseBroken(c, err)
	}
	return bytes.Clone(answer), nil
}

// openNative checks an answer by mysql_native_password.
func (c Credential) openNative(salt, answer []byte) (Secret, bool) {
	stage2 := c.stage2
	if c.kind == kindClear {
		stage1 := sha1.Sum([]byte(c.text)) //nolint:gosec // As above.
		stage2 = sha1.Sum(stage1[:])       //nolint:gosec // As above.
	}
	stage1, ok := openNative(salt, answer, stage2)
	if ok && c.kind == kindClear {
		return ClearSecret(c.text), true
	}
	return NativeSecret(stage1), ok
}

// refuse sends an ERR and returns it.
func refuse(c *Conn, e *Error) error {
	if err := c.WriteError(e); err != nil {
		return errors.Join(e, err)
	}
	return e
}

// refuseBroken tells a client that its login packets are not understood. A connection that failed is told nothing.
func refuseBroken(c *Conn, cause error) error {
	e := NewError(CodeBadHandshake, "08S01", "Bad handshake")
	switch {
	case errors.Is(cause, ErrMalformedPacket), errors.Is(cause, ErrPacketTooLarge):
	case errors.Is(cause, ErrOutOfOrder):
		e = NewError(CodePacketsOutOfOrder, "08S01", "Got packets out of order")
	default:
		return cause
	}
	return errors.Join(refuse(c, e), cause)
}

// newSalt makes a challenge. Its bytes are neither NUL nor "$", which hash texts and old clients could stumble over.
func newSalt() []byte {
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // It never fails.
	for i, b := range salt {
		b &= 0x7f
		if b == 0 || b == '$' {
			b++
		}
		salt[i] = b
	}
	return salt
}

// host is the client's address without port.
func host(nc net.Conn) string {
	addr := nc.RemoteAddr()
	if addr == nil {
		return ""
	}
	h, _, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String()
	}
	return h
}
