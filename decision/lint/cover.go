package lint

import (
	"slices"
	"strings"

	"github.com/pointsman/pointsman/decision"
)

// Predicates besides the expressions.
const (
	predUsername = iota
	predSchemaname
	predClientAddr
	predProxyAddr
	predProxyPort
	predDigest
	predicates
)

// conditions are a rule's predicates besides the expressions, as texts; empty ones say nothing.
type conditions struct {
	flag int64
	text [predicates]string
}

func conditionsOf(row *decision.QueryRule) conditions {
	c := conditions{flag: row.FlagIn}
	c.text[predUsername] = row.Username
	c.text[predSchemaname] = row.Schemaname
	if !anyAddress(row.ClientAddr) {
		c.text[predClientAddr] = row.ClientAddr
	}
	c.text[predProxyAddr] = row.ProxyAddr
	if row.ProxyPort != nil {
		c.text[predProxyPort] = formatInt(*row.ProxyPort)
	}
	c.text[predDigest] = digestKey(row.Digest)
	return c
}

// expressionsKey tells apart what rules match by their expressions.
type expressionsKey struct {
	digest, pattern          string
	hasDigest, hasPattern    bool
	digestCase, negate, text bool
}

func keyOf(r *rule) expressionsKey {
	k := expressionsKey{negate: r.row.NegateMatchPattern && (r.digest != nil || r.pattern != nil)}
	if r.digest != nil {
		k.hasDigest, k.digest, k.digestCase = true, r.digest.source, r.digest.caseless
	}
	if r.pattern != nil {
		k.hasPattern, k.pattern, k.text = true, r.pattern.source, r.pattern.caseless
	}
	return k
}

// span are the first and the last of some rules, in the order in which they were added.
type span struct{ first, last *rule }

// pick gives one of the rules that fits.
func (s *span) pick(fits func(*rule) bool) *rule {
	switch {
	case s == nil:
	case fits(s.first):
		return s.first
	case fits(s.last):
		return s.last
	}
	return nil
}

// maxLiterals bounds the unanchored expressions of one bucket that are compared one by one.
const maxLiterals = 100

// bucket holds rules with equal conditions.
type bucket struct {
	everything *span // without expressions, or with ones that match every text
	equal      map[expressionsKey]*span
	// prefixes are rules with nothing but an anchored text, by it; lengths are those of the texts.
	prefixes map[prefixKey]*span
	lengths  []int
	fronts   map[prefixKey]*span // the other anchored ones, by what is written there
	literals []*rule             // those that are not anchored
}

type prefixKey struct {
	pattern  bool // match_pattern, not match_digest
	caseless bool
	text     string // folded when caseless
}

// coverIndex finds rules that match whatever another one matches.
type coverIndex struct {
	buckets  map[conditions]*bucket
	rewrites bool
	wide     map[int64][]string // by flag: client_addr patterns that end in %
}

func newCoverIndex(l *linter) *coverIndex {
	return &coverIndex{buckets: make(map[conditions]*bucket), rewrites: l.rewrites, wide: make(map[int64][]string)}
}

func extend(s *span, r *rule) *span {
	if s == nil {
		return &span{r, r}
	}
	s.last = r
	return s
}

const maxWide = 32 // client_addr patterns of one chain that are compared one by one

func (x *coverIndex) add(r *rule) {
	if r.never {
		return
	}
	c := conditionsOf(r.row)
	if addr := c.text[predClientAddr]; strings.HasSuffix(addr, "%") && !strings.ContainsAny(addr, "_/") {
		if list := x.wide[c.flag]; len(list) < maxWide && !slices.Contains(list, addr) {
			x.wide[c.flag] = append(list, addr)
		}
	}
	b := x.buckets[c]
	if b == nil {
		b = &bucket{equal: make(map[expressionsKey]*span), prefixes: make(map[prefixKey]*span), fronts: make(map[prefixKey]*span)}
		x.buckets[c] = b
	}
	if r.digest == nil && r.pattern == nil || alwaysFound(r) {
		b.everything = extend(b.everything, r)
		return
	}
	key := keyOf(r)
	b.equal[key] = extend(b.equal[key], r)
	e := r.digest
	if e == nil {
		e = r.pattern
	}
	if r.digest != nil && r.pattern != nil || r.row.NegateMatchPattern {
		return
	}
	unanchored := false
	for i := range e.branches {
		br := &e.branches[i]
		if !br.anchored {
			unanchored = true
			continue
		}
		if text, enough := br.start(); enough {
			k := prefixKey{r.digest == nil, e.caseless, e.form(text)}
			b.prefixes[k] = extend(b.prefixes[k], r)
			if !slices.Contains(b.lengths, len(text)) {
				b.lengths = append(b.lengths, len(text))
			}
		} else if n := br.needed(); n > 0 {
			k := prefixKey{r.digest == nil, e.caseless, e.form(br.written()[n-1])}
			b.fronts[k] = extend(b.fronts[k], r)
		}
	}
	if unanchored && len(b.literals) < maxLiterals {
		b.literals = append(b.literals, r)
	}
}

// alwaysFound tells whether the expressions of a rule keep nothing out.
func alwaysFound(r *rule) bool {
	return !r.row.NegateMatchPattern && (r.digest == nil || r.digest.always) && (r.pattern == nil || r.pattern.always)
}

// find gives a rule of the index that fits and matches whatever r matches, or nil.
func (x *coverIndex) find(r *rule, fits func(*rule) bool) *rule {
	own := conditionsOf(r.row)
	clients := []string{own.text[predClientAddr]}
	for _, pattern := range x.wide[own.flag] {
		if addr := own.text[predClientAddr]; addr != pattern && strings.HasPrefix(addr, strings.TrimSuffix(pattern, "%")) && !strings.ContainsAny(addr, "_/") {
			clients = append(clients, pattern)
		}
	}
	// Each way to leave out some of r's conditions gives a bucket of rules that may be wider.
	for subset := range 1 << predicates {
		c := conditions{flag: own.flag}
		skip := false
		for i := range predicates {
			if subset>>i&1 != 0 {
				c.text[i] = own.text[i]
				skip = skip || own.text[i] == ""
			}
		}
		if skip {
			continue
		}
		for i, client := range clients {
			if c.text[predClientAddr] != "" {
				c.text[predClientAddr] = client
			} else if i > 0 {
				break
			}
			if b := x.buckets[c]; b != nil {
				if found := b.find(r, x.rewrites, fits); found != nil {
					return found
				}
			}
		}
	}
	return nil
}

func (b *bucket) find(r *rule, rewrites bool, fits func(*rule) bool) *rule {
	if found := b.everything.pick(fits); found != nil {
		return found
	}
	// What a rewrite does to the text between two rules is not followed.
	if found := b.equal[keyOf(r)].pick(fits); found != nil && (r.pattern == nil || !rewrites) {
		return found
	}
	if r.row.NegateMatchPattern {
		return nil
	}
	for _, e := range []*expression{r.digest, r.pattern} {
		onPattern := e == r.pattern
		if e == nil || onPattern && rewrites {
			continue
		}
		if found := b.byPrefix(e, onPattern, fits); found != nil {
			return found
		}
		for _, o := range b.literals {
			mine := o.digest
			if onPattern {
				mine = o.pattern
			}
			if mine != nil && fits(o) && mine.covers(e) {
				return o
			}
		}
	}
	return nil
}

// byPrefix finds a rule by how the first alternative of e begins.
func (b *bucket) byPrefix(e *expression, onPattern bool, fits func(*rule) bool) *rule {
	if len(e.branches) == 0 || !e.branches[0].anchored {
		return nil
	}
	covers := func(o *rule) bool {
		mine := o.digest
		if onPattern {
			mine = o.pattern
		}
		return fits(o) && mine.covers(e)
	}
	first, _ := e.branches[0].start()
	for _, caseless := range []bool{true, false} {
		if e.caseless && !caseless {
			continue
		}
		form := func(s string) string { return s }
		if caseless {
			form = fold
		}
		for _, n := range b.lengths {
			if n > len(first) {
				continue
			}
			if found := b.prefixes[prefixKey{onPattern, caseless, form(first[:n])}].pick(covers); found != nil {
				return found
			}
		}
		if len(b.fronts) == 0 {
			continue
		}
		for _, text := range e.branches[0].written() {
			if found := b.fronts[prefixKey{onPattern, caseless, form(text)}].pick(covers); found != nil {
				return found
			}
		}
	}
	return nil
}
