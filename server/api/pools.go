package api

import (
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/decision"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/loaded"
	"github.com/pointsman/pointsman/server/translate"
)

const (
	// maxRouters is for how many gateways' facts pools are kept.
	maxRouters = 256
	// maxRouterBytes is the longest of such facts for which they are.
	maxRouterBytes = 4 << 10
)

// pools keeps the guideline pools that were made of one generation and one observation. Another of either begins anew.
type pools struct {
	mu         sync.Mutex
	generation *loaded.Generation
	runtime    *decision.Runtime
	byRouter   map[string]*pooled
}

// pooled are pools with how often each was drawn from without a seed.
type pooled struct {
	*decision.Pools

	turns map[string]uint64
}

// draw draws a server of a pool. Without a seed the pool's turns count up. Errors: errNoGuideline,
// *decision.UnknownPoolError. One is drawn at a time, so that making pools leaves the processors to
// those who decide.
func (p *pools) draw(g *loaded.Generation, rt *decision.Runtime, req *decisionv1.SelectServerRequest, ask *decision.SelectRequest) (decision.SelectResult, error) {
	if g.Core.Guide() == nil {
		return decision.SelectResult{}, errNoGuideline
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	of, err := p.get(g, rt, req.GetRouter())
	if err != nil {
		return decision.SelectResult{}, err
	}
	pool := req.GetGuidelinePool()
	if req.Seed == nil {
		ask.Seed = of.turns[pool]
	}
	drawn, err := g.Core.SelectPool(of.Pools, pool, ask)
	if err == nil && req.Seed == nil {
		of.turns[pool]++
	}
	return drawn, err
}

// get gives the pools for a gateway with these facts. p.mu is held.
func (p *pools) get(g *loaded.Generation, rt *decision.Runtime, router *decisionv1.Router) (*pooled, error) {
	if p.generation != g || p.runtime != rt {
		p.generation, p.runtime, p.byRouter = g, rt, make(map[string]*pooled)
	}
	if !g.Core.Guide().Guideline().Uses().DestinationsUseRouter {
		router = nil
	}
	key := ""
	if router != nil {
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(router)
		if err != nil {
			return nil, err
		}
		key = "router:" + string(b)
	}
	if of := p.byRouter[key]; of != nil {
		return of, nil
	}
	of := &pooled{Pools: g.Core.Guide().NewPools(translate.RouterFromProto(router), g.Core.Hostgroups(), g.Core.Servers(), rt), turns: make(map[string]uint64)}
	if len(key) > maxRouterBytes {
		return of, nil
	}
	if len(p.byRouter) >= maxRouters {
		clear(p.byRouter)
	}
	p.byRouter[key] = of
	return of, nil
}
