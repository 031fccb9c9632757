package proxyheader

import (
	"fmt"
	"net"
	"net/netip"
)

// Networks are the networks of trusted proxies.
type Networks []netip.Prefix

// ParseNetworks reads networks such as 10.1.0.0/16, or single addresses.
func ParseNetworks(texts []string) (Networks, error) {
	var all Networks
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			addr, addrErr := netip.ParseAddr(text)
			if addrErr != nil {
				return nil, fmt.Errorf("%q is no network such as 10.1.0.0/16 and no IP address", text)
			}
			network = netip.PrefixFrom(addr, addr.BitLen())
		}
		if network.Addr() != network.Masked().Addr() {
			return nil, fmt.Errorf("%q has bits beyond its length: write %s", text, network.Masked())
		}
		all = append(all, network)
	}
	return all, nil
}

// Wrap gives a [Conn] for a connection from one of the networks, and any other connection as it is.
func (n Networks) Wrap(nc net.Conn) net.Conn {
	tcp, ok := nc.(*net.TCPConn)
	if !ok || len(n) == 0 {
		return nc
	}
	from, ok := tcp.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return nc
	}
	addr := from.AddrPort().Addr().Unmap().WithZone("")
	for _, network := range n {
		if network.Contains(addr) {
			return &Conn{TCPConn: tcp}
		}
	}
	return nc
}
