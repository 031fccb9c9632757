package session

import (
	"context"

	"github.com/pointsman/pointsman/decision/selection"
	"github.com/pointsman/pointsman/gateway/pool"
	"github.com/pointsman/pointsman/gateway/snapshot"
)

// poolPolicy says by the configuration in force what holds for a row's connections.
func (g *Gateway) poolPolicy(r pool.Row) pool.Policy {
	snap := g.Snapshots.Current()
	if snap == nil {
		return pool.Policy{}
	}
	hg := snap.Hostgroup(r.Hostgroup)
	if hg == nil {
		return pool.Policy{}
	}
	for i := range hg.Servers {
		if hg.Servers[i].Addr == r.Addr {
			return policyOf(hg, i, &snap.Settings)
		}
	}
	return pool.Policy{}
}

func policyOf(hg *snapshot.Hostgroup, i int, settings *snapshot.Settings) pool.Policy {
	c := hg.Candidates.At(i)
	return pool.Policy{
		Online: c.Status == selection.Online, Max: c.MaxConnections,
		MaxFree: uint32((uint64(c.MaxConnections)*uint64(hg.Attributes.FreeConnectionsPct) + 99) / 100),
		MaxAge:  settings.ConnectionMaxAge, MaxIdle: settings.ConnectionMaxIdle,
		Warm: hg.Attributes.ConnectionWarming, PerSecond: hg.Attributes.ThrottleConnectionsPerSec, MaxQueue: settings.ConnectionQueueLength,
	}
}

// WatchPool looks after free connections to servers until ctx ends, and then closes them.
func (g *Gateway) WatchPool(ctx context.Context) { g.pool.Run(ctx) }

// PoolServer is one server's part of the pool, for operators.
type PoolServer struct {
	Hostgroup      int32  `json:"hostgroup"`
	Server         string `json:"server"`
	Online         bool   `json:"online"`          // by the configuration
	MaxConnections uint32 `json:"max_connections"` // free ones included
	MaxFree        uint32 `json:"max_free"`
	Used           uint32 `json:"used"` // with those that log in
	Free           uint32 `json:"free"`
	Waiting        uint32 `json:"waiting"` // statements that wait for a connection to the hostgroup
}

// PoolState gives the servers that have been used, by hostgroup and address.
func (g *Gateway) PoolState() []PoolServer {
	state := g.pool.State()
	out := make([]PoolServer, 0, len(state))
	for _, r := range state {
		out = append(out, PoolServer{
			Hostgroup: r.Hostgroup, Server: r.Addr, Online: r.Policy.Online, MaxConnections: r.Policy.Max, MaxFree: r.Policy.MaxFree,
			Used: r.Used, Free: r.Free, Waiting: r.Waiting,
		})
	}
	return out
}

// PoolMetrics are the gauges of the pool, to be registered.
func (g *Gateway) PoolMetrics() *pool.Shared { return g.pool }
