package resolve

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/pointsman/pointsman/decision/guideline"
)

// LookupFunc gives the addresses of a host of the wanted family, at least one. Its error says why there is none.
type LookupFunc func(ctx context.Context, host guideline.Host) ([]netip.Addr, error)

// System asks the system's resolver.
func System(ctx context.Context, host guideline.Host) ([]netip.Addr, error) {
	network := "ip4"
	if host.V6 {
		network = "ip6"
	}
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, network, host.Name)
	if err == nil && len(addresses) == 0 {
		err = fmt.Errorf("%s has no address", host.Name)
	}
	return addresses, err
}

// choose takes the old address if it is still one of them, else the lowest. So servers agree on one of several whatever
// order they get them in.
func choose(addresses []netip.Addr, old string) string {
	texts := make([]string, len(addresses))
	lowest := 0
	for i, a := range addresses {
		addresses[i] = a.Unmap().WithZone("")
		texts[i] = addresses[i].String()
		if addresses[i].Less(addresses[lowest]) {
			lowest = i
		}
	}
	if slices.Contains(texts, old) {
		return old
	}
	return texts[lowest]
}
