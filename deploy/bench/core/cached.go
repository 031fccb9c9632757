package core

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/digest"
	"github.com/pointsman/pointsman/decision/selection"
	"github.com/pointsman/pointsman/deploy/bench"
	"github.com/pointsman/pointsman/gateway/route"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// decider answers the gateway's router with a decision server's handler, without a connection.
type decider struct {
	decisionv1.DecisionServiceServer
}

func (d decider) Route(ctx context.Context, req *decisionv1.RouteStatementRequest) (*decisionv1.RouteStatementResponse, error) {
	return d.RouteStatement(ctx, req)
}

// routeCached is the gateway's way of a statement whose answer it has: normal form, the router's lookup, and the draw of
// one of 20 servers. Of a prepared statement it has kept the digest with its hash.
func (s *suite) routeCached() error {
	d, err := newRouted()
	if err != nil {
		return err
	}
	log := slog.New(slog.DiscardHandler)
	router := route.New(decider{newService(d.generation, log, nil)}, route.Options{Budget: time.Minute}, log)
	sessions := make([]route.Session, len(d.sessions))
	for i := range sessions {
		from := &d.sessions[i]
		sessions[i] = route.Session{
			Username: from.Username, Schemaname: from.Schemaname, ClientAddr: from.ClientAddr, ProxyAddr: from.ProxyAddr, ProxyPort: from.ProxyPort,
		}
	}
	list := selection.NewList(servers(perGroup, 70)) // of all hostgroups
	limits := selection.DefaultLimits()
	ctx := context.Background()
	var buffer digest.Buffer
	var seed, misses uint64
	send := func(i int, st *route.Statement) {
		answer, source := router.Decide(ctx, &sessions[i%len(sessions)], st)
		if source != route.Cached {
			misses++
		}
		seed++
		sink += uint64(answer.GetDestinationHostgroup()) + uint64(list.Pick(&limits, seed, nil, nil))
	}
	st := route.Statement{Generation: d.generation.Number(), Command: decisionv1.Command_COMMAND_QUERY}
	byText := bench.Op{Per: len(d.texts), Run: func() {
		for i, text := range d.texts {
			r := digest.Compute(&buffer, text, &d.options)
			st.Text, st.DigestText, st.DigestHash, st.FirstComment = text, r.Text, route.HashOfDigest(r.Text, r.Hash), r.FirstComment
			send(i, &st)
		}
	}}
	prepared := make([]route.Statement, len(d.texts))
	for i, text := range d.texts {
		r := digest.Compute(&buffer, text, &d.options)
		digestText := append([]byte(nil), r.Text...)
		prepared[i] = route.Statement{
			Text: text, TextHash: route.HashOf(text), DigestText: digestText, DigestHash: route.HashOfDigest(digestText, r.Hash), FirstComment: append([]byte(nil), r.FirstComment...),
			Generation: d.generation.Number(), Command: decisionv1.Command_COMMAND_QUERY,
		}
	}
	byHash := bench.Op{Per: len(prepared), Run: func() {
		for i := range prepared {
			send(i, &prepared[i])
		}
	}}
	byText.Run() // asks for all of them
	byHash.Run()
	if err := d.agree(router, sessions, prepared); err != nil {
		return err
	}
	misses = 0
	m := s.meter.Measure(digests(d.texts, &d.options), mapLookup(), byText, byHash)
	if misses > 0 {
		return fmt.Errorf("cached routes: %d answers did not come from the cache", misses)
	}
	s.report.Add("route_cached_digest", bench.Result{
		Value: m[2].Median(), Ratio: m[2].Over(m[0]).Median(), Allocs: s.allocs(byText),
		Note: fmt.Sprintf("P %.0f ns; %d answers kept", m[0].Median(), router.Cached()),
	})
	s.report.Add("route_cached_hash", bench.Result{
		Value: m[3].Median(), Ratio: m[3].Over(m[1]).Median(), Allocs: s.allocs(byHash), Note: fmt.Sprintf("M %.1f ns", m[1].Median()),
	})
	return nil
}

// agree holds what the router has kept against fresh decisions.
func (d *routed) agree(router *route.Router, sessions []route.Session, statements []route.Statement) error {
	var question decision.Question
	var answer decision.Answer
	for i := range statements {
		got, source := router.Decide(context.Background(), &sessions[i%len(sessions)], &statements[i])
		question.Session = *d.session(i)
		question.Statement = decision.Statement{Text: d.texts[i], HasText: true}
		if err := d.generation.Route(&question, &answer); err != nil {
			return err
		}
		if source != route.Cached || got.GetDestinationHostgroup() != answer.DestinationHostgroup {
			return errors.New("cached routes: " + string(source) + " answer differs from a fresh one for " + string(d.texts[i]))
		}
	}
	return nil
}
