package route

import (
	"math"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// class is one session class of one generation: what a cookie stands for.
type class struct {
	id         uint64 // unique in this process
	generation uint64
	cookie     []byte
	hasText    atomic.Bool // whether any answer of the class is kept by text
}

// maxClasses bounds the classes that are kept for reuse between sessions.
const maxClasses = 65536

// classes are those of the newest generation, by the values of the attributes that it looks at.
type classes struct {
	mu         sync.Mutex
	lastID     uint64
	generation uint64
	attributes []string
	byValues   map[string]*class
	byCookie   map[string]*class
}

// find gives the class of a session that agrees on all attributes with one that holds a cookie, nil if there is none.
func (c *classes) find(generation uint64, s *Session) *class {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.generation != generation || c.byValues == nil {
		return nil
	}
	values, ok := s.values(c.attributes)
	if !ok {
		return nil
	}
	return c.byValues[values]
}

// latest is find in the newest generation that any answer was of: for last good answers.
func (c *classes) latest(s *Session) *class {
	c.mu.Lock()
	generation := c.generation
	c.mu.Unlock()
	return c.find(generation, s)
}

// learn gives the class of a cookie that was just received for the session.
func (c *classes) learn(generation uint64, cookie []byte, attributes []string, s *Session) *class {
	c.mu.Lock()
	defer c.mu.Unlock()
	if generation < c.generation || len(cookie) == 0 {
		return c.add(generation, cookie) // a late answer, or nothing to share
	}
	if generation > c.generation || len(c.byCookie) >= maxClasses {
		c.generation, c.attributes = generation, attributes
		c.byValues, c.byCookie = map[string]*class{}, map[string]*class{}
	}
	known := c.byCookie[string(cookie)]
	if known == nil {
		known = c.add(generation, cookie)
		c.byCookie[string(cookie)] = known
	}
	if values, ok := s.values(c.attributes); ok {
		if len(c.byValues) >= maxClasses { // random values: most are of sessions that are gone
			clear(c.byValues)
		}
		c.byValues[values] = known
	}
	return known
}

func (c *classes) add(generation uint64, cookie []byte) *class {
	c.lastID++
	return &class{id: c.lastID, generation: generation, cookie: cookie}
}

// values joins the values of the attributes; false when the gateway does not know one of them.
func (s *Session) values(attributes []string) (string, bool) {
	var b strings.Builder
	for _, name := range attributes {
		v, ok := s.attribute(name)
		if !ok {
			return "", false
		}
		b.WriteString(strconv.Itoa(len(v))) // lengths keep the values apart
		b.WriteByte(':')
		b.WriteString(v)
	}
	return b.String(), true
}

func (s *Session) attribute(name string) (string, bool) {
	switch name {
	case "username":
		return s.Username, true
	case "schemaname":
		return s.Schemaname, true
	case "client_addr":
		return s.ClientAddr, true
	case "client_port":
		return strconv.FormatUint(uint64(s.ClientPort), 10), true
	case "proxy_addr":
		return s.ProxyAddr, true
	case "proxy_port":
		return strconv.FormatUint(uint64(s.ProxyPort), 10), true
	case "next_query_flag_in":
		if s.NextQueryFlagIn == nil {
			return "", true
		}
		return strconv.FormatInt(int64(*s.NextQueryFlagIn), 10), true
	case "random_value":
		return strconv.FormatUint(math.Float64bits(s.RandomValue), 16), true
	case "router":
		return s.RouterKey, true
	}
	if attr, ok := strings.CutPrefix(name, "connect_attrs."); ok {
		if v, has := s.ConnectAttrs[attr]; has {
			return "=" + v, true // an empty one is not an absent one
		}
		return "", true
	}
	return "", false
}
