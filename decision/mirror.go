package decision

import (
	"github.com/pointsman/pointsman/decision/digest"
	"github.com/pointsman/pointsman/decision/rules"
)

// mirror decides the way of the mirrored copy. Rules are walked for it only from a mirror_flagOUT. It comes from no
// client, so it has no addresses (client_addr and proxy_addr pass), port 0 (other proxy_port rules don't match) and no
// annotations; it takes no fast route, and no transaction or lock holds it. Its digest is that of the rewritten text.
func (g *Generation) mirror(c *class, seed uint64, a *Answer) {
	if a.Set&(OKMsg|ErrorMsg) != 0 || a.Set&(MirrorHostgroup|MirrorFlagOut) == 0 {
		return
	}
	a.HasMirror = true
	destination := c.user.DefaultHostgroup
	if a.Has(MirrorHostgroup) {
		destination = a.MirrorHostgroup
	}
	if a.Has(MirrorFlagOut) {
		w := g.walkMirror(c, seed, a)
		a.Mirror.MatchedRules = append(a.Mirror.MatchedRules, w.Matched...)
		a.TooComplex = a.TooComplex || w.TooComplex
		switch {
		case w.Effects.Set&(OKMsg|ErrorMsg) != 0:
			destination = None
		case w.Destination != None:
			destination = w.Destination
		}
	}
	a.Mirror.DestinationHostgroup = destination
}

func (g *Generation) walkMirror(c *class, seed uint64, a *Answer) *rules.Walk {
	s := &a.scratch
	q := s.question
	q.Session = c.mirror
	q.FlagIn = a.MirrorFlagOut
	if s.walk.Rewritten {
		q.Text = s.walk.Text
		if g.digests {
			r := digest.Compute(&s.mirrorDigest, q.Text, &g.digestOptions)
			q.Digest, q.DigestText = r.Hash, r.Text
		}
	}
	s.mirrored = true
	s.mirrorWalk.Seed(^seed) // so that its draws differ from the statement's own
	g.walk(&q, &s.mirrorWalk)
	return &s.mirrorWalk
}
