package rules

import (
	"bytes"
	"math"
)

// maxLagMS is the largest max_lag_ms; larger ones are ignored, as in ProxySQL.
const maxLagMS = 600_000

// Annotations are what a statement's first comment asks for. It is reused; the zero value is ready.
type Annotations struct {
	Effects     Effects
	Destination int32  // None: no hostgroup
	Ignored     uint32 // how many were ignored because their number is too large
	UsesTime    bool   // a min_epoch_ms was read
	gtid        []byte
}

// Apply overrides a walk's effects. The destination is left to the caller.
func (a *Annotations) Apply(to *Effects) { to.override(&a.Effects) }

// HasAnnotation tells whether a first comment may hold an annotation: each needs a "=".
func HasAnnotation(comment []byte) bool { return bytes.IndexByte(comment, '=') >= 0 }

// Parse reads the annotations of a first comment, given without its delimiters. Pieces are separated by ";", each
// is a key, "=" and a value; unknown keys and values that don't fit are passed over, later pieces override earlier
// ones. nowMS is the time in ms since 1970.
func (a *Annotations) Parse(comment []byte, nowMS int64) {
	*a = Annotations{Destination: None, gtid: a.gtid[:0]}
	for rest := comment; len(rest) > 0; {
		var piece, key, value []byte
		piece, rest = cut(rest, ';')
		key, piece = cut(piece, '=')
		value, _ = cut(piece, '=')
		if key = trim(key); len(key) > 0 {
			a.piece(key, trim(value), nowMS)
		}
	}
}

func (a *Annotations) piece(key, value []byte, nowMS int64) {
	e := &a.Effects
	switch {
	case isKey(key, "hostgroup"):
		a.signed(&a.Destination, 0, value)
	case isKey(key, "mirror"):
		a.signed(&e.MirrorHostgroup, MirrorHostgroup, value)
	case isKey(key, "cache_ttl"):
		a.unsigned(&e.CacheTTL, CacheTTL, value)
	case isKey(key, "query_timeout"):
		a.unsigned(&e.Timeout, Timeout, value)
	case isKey(key, "query_retries"):
		a.unsigned(&e.Retries, Retries, value)
	case isKey(key, "query_delay"):
		a.unsigned(&e.Delay, Delay, value)
	case isKey(key, "max_lag_ms"):
		if n, ok := a.number(value, math.MaxUint32); ok {
			a.lag(n)
		}
	case isKey(key, "min_epoch_ms"):
		n, ok := a.number(value, math.MaxInt64)
		if !ok {
			return
		}
		a.UsesTime = true
		if n <= uint64(max(nowMS, 0)) {
			a.lag(uint64(nowMS) - n)
		}
	case isKey(key, "create_new_connection"):
		if n, ok := a.number(value, math.MaxUint32); ok && n == 1 {
			e.CreateNewConn = true
			e.Set |= CreateNewConn
		}
	case isKey(key, "min_gtid"):
		a.minGTID(value)
	}
}

func (a *Annotations) signed(to *int32, f Field, value []byte) {
	if n, ok := a.number(value, math.MaxInt32); ok {
		*to = int32(n)
		a.Effects.Set |= f
	}
}

func (a *Annotations) unsigned(to *uint32, f Field, value []byte) {
	if n, ok := a.number(value, math.MaxUint32); ok {
		*to = uint32(n)
		a.Effects.Set |= f
	}
}

func (a *Annotations) lag(n uint64) {
	if n <= maxLagMS {
		a.Effects.MaxLagMS = uint32(n)
		a.Effects.Set |= MaxLagMS
	}
}

// minGTID takes a "text:number"; runs of blanks inside the text become one.
func (a *Annotations) minGTID(value []byte) {
	colon := bytes.IndexByte(value, ':')
	if colon < 1 || colon == len(value)-1 {
		return
	}
	for _, c := range value[colon+1:] {
		if !isDigit(c) {
			return
		}
	}
	a.gtid = a.gtid[:0]
	for i, c := range value {
		switch {
		case !isBlank(c):
			a.gtid = append(a.gtid, c)
		case !isBlank(value[i-1]): // value starts with no blank
			a.gtid = append(a.gtid, ' ')
		}
	}
	a.Effects.MinGTID = a.gtid
	a.Effects.Set |= MinGTID
}

// number reads the digits that value starts with. It is not ok without digits, and above limit, which is counted.
func (a *Annotations) number(value []byte, limit uint64) (n uint64, ok bool) {
	if len(value) == 0 || !isDigit(value[0]) {
		return 0, false
	}
	for _, c := range value {
		if !isDigit(c) {
			break
		}
		digit := uint64(c - '0')
		if n > (limit-digit)/10 {
			a.Ignored++
			return 0, false
		}
		n = n*10 + digit
	}
	return n, true
}

// cut gives the first piece of s that is not empty, and what follows its separator.
func cut(s []byte, sep byte) (piece, rest []byte) {
	for len(s) > 0 && s[0] == sep {
		s = s[1:]
	}
	for i, c := range s {
		if c == sep {
			return s[:i], s[i+1:]
		}
	}
	return s, nil
}

func trim(s []byte) []byte {
	for len(s) > 0 && isBlank(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isBlank(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// isKey compares without regard to the case of ASCII letters; name is lower case.
func isKey(key []byte, name string) bool {
	if len(key) != len(name) {
		return false
	}
	for i, c := range key {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != name[i] {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isBlank(c byte) bool { return c == ' ' || ('\t' <= c && c <= '\r') }
