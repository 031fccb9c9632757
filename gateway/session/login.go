package session

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"

	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/proxyheader"
	"github.com/pointsman/pointsman/gateway/route"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// start greets and verifies the client and prepares the session. The client has been told what failed.
func (s *session) start(ctx context.Context) error {
	if s.Snapshots.Current() == nil {
		return s.refuse(mysql.NewError(codeNoConfiguration, "08S01",
			"The gateway has no configuration: no decision service was reached yet, and there is no last good copy"))
	}
	if !s.admit() {
		return s.refuse(mysql.NewError(mysql.CodeTooManyConnections, "08004", "Too many connections: the gateway takes %d", s.MaxConnections))
	}
	err := s.handshake(ctx)
	if err != nil {
		s.dismiss()
	}
	return err
}

func (s *session) handshake(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	if err := s.readProxyHeader(ctx); err != nil {
		return err
	}
	login, err := s.Auth.Handshake(ctx, s.client, s.greeting(s.id), s.credential)
	if err != nil {
		return err
	}
	return s.welcome(login)
}

// readProxyHeader learns from a trusted proxy on whose behalf it connects.
func (s *session) readProxyHeader(ctx context.Context) error {
	proxied, ok := s.client.NetConn().(*proxyheader.Conn)
	if !ok {
		return nil
	}
	err := s.client.Within(ctx, proxied.ReadHeader)
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		return mysql.ErrNoHandshake
	}
	return err
}

func (s *session) refuse(e *mysql.Error) error {
	if err := s.client.WriteError(e); err != nil {
		return err
	}
	s.Metrics.failed(sideGateway, kindOfCode(e.Code))
	return errRefused
}

// credential looks up a user of the current generation. A user without a password can't log in. For those who can't, that of
// another user is gone through, so that the steps of a login do not tell who exists.
func (s *session) credential(user string) (mysql.Credential, bool) {
	snap := s.Snapshots.Current()
	u := snap.User(user)
	known := u != nil && u.Password != nil
	if !known {
		if u = snap.Decoy(user); u == nil {
			return mysql.Credential{}, false
		}
	}
	c := mysql.ParseCredential(u.GetPassword())
	if u.GetUseSsl() {
		c = c.SecureOnly()
	}
	return c, known
}

// welcome takes over a verified login and ends it with OK.
func (s *session) welcome(login *mysql.Login) error {
	snap := s.Snapshots.Current()
	u := snap.User(login.User)
	if u == nil { // gone since the handshake
		return s.refuse(mysql.NewError(mysql.CodeAccessDenied, "28000", "Access denied for user '%s'@'%s'", login.User, login.Host))
	}
	if limit := maxConnections(u); !s.countUser(login.User, limit) {
		return s.refuse(mysql.NewError(codeUserLimit, "42000",
			"User %s already has more than 'max_user_connections' active connections: %d", login.User, limit))
	}
	s.counted = true
	s.known(login.User)
	s.login = login
	schema := login.Schema
	if schema == "" {
		schema = u.GetDefaultSchema()
	}
	s.forget(schema)
	clientHost, clientPort := splitAddr(s.client.NetConn().RemoteAddr())
	proxyHost, proxyPort := splitAddr(s.client.NetConn().LocalAddr())
	s.route = route.Session{
		Username: login.User, Schemaname: schema,
		ClientAddr: clientHost, ClientPort: clientPort, ProxyAddr: proxyHost, ProxyPort: proxyPort,
		ConnectAttrs: texts(login.Attrs), RandomValue: s.random, DefaultHostgroup: u.GetDefaultHostgroup(),
	}
	s.looked = false
	return s.client.WriteOK(mysql.OK{Status: s.status()})
}

func maxConnections(u *configv1.User) uint32 {
	if u.MaxConnections == nil {
		return 10_000
	}
	return u.GetMaxConnections()
}

// splitAddr gives address and port as rules and guidelines see them: an IPv4 address is one also where it came in over IPv6,
// and no zone is told. A Unix socket has neither.
func splitAddr(a net.Addr) (host string, port uint32) {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return "", 0
	}
	return tcp.IP.String(), uint32(tcp.Port)
}

// changeUser verifies COM_CHANGE_USER and begins the session anew as that user.
func (s *session) changeUser(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	login, err := s.Auth.ChangeUser(ctx, s.client, s.login, s.credential)
	if err != nil {
		return err
	}
	s.giveBackAll(ctx) // they are logged in as somebody else
	s.leaveUser()
	return s.welcome(login)
}

// leaveUser gives back the place among the user's connections.
func (s *session) leaveUser() {
	if s.counted {
		s.releaseUser(s.login.User)
	}
	s.counted = false
}
