package snapshot

import (
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/guideline"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// View is what the sessions of one listener see of the guideline in force. It never changes.
type View struct {
	Listener decision.Listener
	// Router are the gateway and the listener as the guideline sees them, and Message the same for questions. Equal messages
	// have equal Keys.
	Router  guideline.Router
	Message *decisionv1.Router
	Key     string

	pools      *decision.Pools        // nil without a guideline
	configured func() *decision.Pools // with the roles of the configuration
}

// Pool gives a pool of the guideline in force by its name; nil when it has none of that name.
func (v *View) Pool(name string) *decision.Pool {
	if v.pools == nil {
		return nil
	}
	return v.pools.Pool(name)
}

// views makes the view of each listener; guide is nil when no guideline is in force.
func views(site *Site, guide *decision.Guide, hostgroups []decision.Hostgroup, servers []decision.Server, runtime *decision.Runtime) []View {
	var ports struct{ rw, ro, split uint32 }
	if guide != nil {
		port := func(mode decision.ListenerMode) uint32 {
			for _, l := range site.Listeners {
				if guide.Mode(decision.Listener{Name: l.Name, Port: l.Port}) == mode {
					return l.Port
				}
			}
			return 0
		}
		ports.rw, ports.ro, ports.split = port(decision.ListenerRW), port(decision.ListenerRO), port(decision.ListenerRWSplit)
	}
	out := make([]View, len(site.Listeners))
	for i, l := range site.Listeners {
		v := &out[i]
		v.Listener = decision.Listener{Name: l.Name, Port: l.Port}
		v.Router = guideline.Router{
			Name: site.Name, Hostname: site.Hostname, LocalCluster: site.LocalCluster, Tags: site.Tags,
			RouteName: l.Name, BindAddress: l.Address,
			PortRW: float64(ports.rw), PortRO: float64(ports.ro), PortRWSplit: float64(ports.split),
		}
		v.Message = &decisionv1.Router{
			Name: site.Name, Hostname: site.Hostname, LocalCluster: site.LocalCluster, Tags: site.Tags,
			RouteName: l.Name, BindAddress: l.Address, PortRw: ports.rw, PortRo: ports.ro, PortRwSplit: ports.split,
		}
		v.Key = keyOf(v.Message)
		if guide != nil {
			v.pools = guide.NewPools(&v.Router, hostgroups, servers, runtime)
			v.configured = sync.OnceValue(func() *decision.Pools {
				var names decision.Runtime
				if runtime != nil {
					names.Names = runtime.Names
				}
				return guide.NewPools(&v.Router, hostgroups, servers, &names)
			})
		}
	}
	return out
}

// keyOf gives a text that equal messages share. A text that is not UTF-8 would make the message unfit to be sent; Site has
// none.
func keyOf(m *decisionv1.Router) string {
	key, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return err.Error()
	}
	return string(key)
}
