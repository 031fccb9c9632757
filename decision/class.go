package decision

import (
	"encoding/binary"

	"github.com/pointsman/pointsman/decision/rules"
)

// class is a session as one generation sees it, resolved once for all its statements. It never changes.
type class struct {
	key     classKey
	user    *User
	session *rules.Session
	mirror  *rules.Session // as seen by the rules for its mirrored copies; nil: no rule has a mirror_flagOUT
	// The session's key in the fast routes, but for the flag; the schema 0 has none.
	fastUser, fastSchema uint32
	cookie               []byte
}

// classKey are the values that a class is resolved from: those of sessionAttributes, as sent.
type classKey struct {
	username   string
	schemaname string
	clientAddr string
	proxyAddr  string
	proxyPort  uint32
	flagIn     int32
	chosen     chosen // by the guideline; it stands for all that its routes look at
}

// key gives what the generation can see of a session, but for what its guideline makes of it.
func (g *Generation) key(s *Session) classKey {
	k := classKey{username: s.Username, flagIn: max(s.NextQueryFlagIn, 0), chosen: chosen{route: None}}
	if g.looksAtSchemaname() {
		k.schemaname = s.Schemaname
	}
	if g.rules.LooksAtClientAddr() {
		k.clientAddr = s.ClientAddr
	}
	if g.rules.LooksAtProxyAddr() {
		k.proxyAddr = s.ProxyAddr
	}
	if g.rules.LooksAtProxyPort() {
		k.proxyPort = s.ProxyPort
	}
	return k
}

// classOf gives the class of a question's session. The error is a *QuestionError about the username.
func (g *Generation) classOf(q *Question, guided *guidedSession) (*class, error) {
	s := &q.Session
	key := g.key(s)
	if g.guide != nil {
		key.chosen = g.ask(q, guided)
	}
	hash := key.hash()
	if c := g.classes.find(&key, hash); c != nil {
		return c, nil
	}
	user, ok := g.byName[s.Username]
	switch {
	case !ok && s.Username == "":
		return nil, &QuestionError{"session.username", "is empty; name the MySQL user"}
	case !ok:
		return nil, &QuestionError{"session.username", "is not an active user of this generation"}
	}
	c := g.resolve(key.clone(), user)
	g.classes.keep(c, hash)
	return c, nil
}

func (g *Generation) resolve(key classKey, user *User) *class {
	a := rules.Attributes{
		Username:   user.Username,
		Schemaname: g.schemaOf(key.schemaname, user),
		ClientAddr: key.clientAddr,
		ProxyAddr:  key.proxyAddr,
		ProxyPort:  int32(key.proxyPort),
	}
	c := &class{key: key, user: user, session: g.rules.Resolve(&a), fastSchema: g.fastRoutes.SchemaID(a.Schemaname)}
	if c.fastSchema != 0 {
		c.fastUser = g.fastRoutes.UserID(a.Username)
	}
	if g.rules.HasMirrorFlagOut() {
		c.mirror = g.rules.Resolve(&rules.Attributes{Username: a.Username, Schemaname: a.Schemaname})
	}
	c.cookie = appendCookie(nil, g.number, key.chosen.route, g.appendClass(nil, c))
	return c
}

// schemaOf gives the schema that a session has: the one it names, else the user's, else that of the settings.
func (g *Generation) schemaOf(named string, user *User) string {
	switch {
	case named != "":
		return named
	case user.DefaultSchema != "":
		return user.DefaultSchema
	}
	return *g.settings.DefaultSchema
}

// appendClass appends all that Route can tell of a session, so that sessions share a cookie which no rule, fast route or
// user tells apart. It depends on the configuration alone: all servers give a session the same cookie.
func (g *Generation) appendClass(dst []byte, c *class) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(c.key.flagIn))
	dst = binary.BigEndian.AppendUint32(dst, uint32(c.user.DefaultHostgroup))
	if g.guide != nil {
		dst = c.key.chosen.append(dst)
	}
	if c.user.FastForward {
		return append(dst, "fast_forward"...)
	}
	start := len(dst)
	dst = appendLength(g.rules.AppendClass(dst, c.session), start)
	if c.mirror != nil {
		start = len(dst)
		dst = appendLength(g.rules.AppendClass(dst, c.mirror), start)
	}
	if c.fastSchema != 0 {
		start = len(dst)
		dst = appendLength(append(dst, c.session.Schemaname...), start)
		if c.fastUser != 0 {
			dst = append(dst, c.user.Username...)
		}
	}
	return dst
}

// appendLength keeps what follows apart from what was appended since start.
func appendLength(dst []byte, start int) []byte {
	return binary.BigEndian.AppendUint32(dst, uint32(len(dst)-start))
}
