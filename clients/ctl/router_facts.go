package ctl

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/pointsman/pointsman/clients/facts"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// routerFacts is what flags say of the gateway and its listener.
type routerFacts struct{ set []string }

func (r *routerFacts) flags(f *pflag.FlagSet) {
	f.StringArrayVar(&r.set, "router", nil, "what guidelines see as $.router, for example name=gw1, port.rw=6446 or tags.zone=eu; repeat it for more")
}

// message gives the API's form of the facts; nil when there are none.
func (r *routerFacts) message() (*decisionv1.Router, error) {
	known, err := facts.Router(r.set)
	if err != nil {
		return nil, fmt.Errorf("flag --router: %w", err)
	}
	if known == nil {
		return nil, nil //nolint:nilnil // no flag, no facts
	}
	return &decisionv1.Router{
		Name: known.Name, Hostname: known.Hostname, LocalCluster: known.LocalCluster, Tags: known.Tags,
		RouteName: known.RouteName, BindAddress: known.BindAddress,
		PortRw: uint32(known.PortRW), PortRo: uint32(known.PortRO), PortRwSplit: uint32(known.PortRWSplit),
	}, nil
}
