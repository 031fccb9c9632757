package rules

import (
	"crypto/sha256"
	"encoding/binary"
)

// profile is one combination of the predicates that are constant in a session, as numbers: 0 is no predicate.
type profile struct {
	user, schema, client, proxy, port uint32
}

// unknown is the number that stands for all address patterns: rules with a pattern are also found under it, by sessions
// whose address is unknown.
const unknown = 1<<32 - 1

// A mask says which predicates a profile has.
const (
	hasUser = 1 << iota
	hasSchema
	hasClient
	hasProxy
	hasPort
	masks
)

func (p *profile) mask() int {
	mask := 0
	for i, n := range [...]uint32{p.user, p.schema, p.client, p.proxy, p.port} {
		if n != 0 {
			mask |= 1 << i
		}
	}
	return mask
}

// profileSumSize is the length of a profile's sum in bytes.
const profileSumSize = 16

// profiles numbers the profiles of all rules from 0, and finds those that a session fits: by a look-up for each mask,
// as no two profiles with the same mask fit the same session but for its address patterns.
type profiles struct {
	users, schemas   map[string]uint32
	clients, proxies *addressIndex
	numbers          map[profile]uint32
	used             [masks]bool
	sums             [][profileSumSize]byte // by number: of what the profile means, whatever its number
}

func newProfiles() *profiles {
	return &profiles{
		users: make(map[string]uint32), schemas: make(map[string]uint32),
		clients: newAddressIndex(), proxies: newAddressIndex(),
		numbers: make(map[profile]uint32),
	}
}

// of gives a rule's profile.
func (x *profiles) of(r *Rule) profile {
	return profile{
		user:   numberOf(x.users, r.Username),
		schema: numberOf(x.schemas, r.Schemaname),
		client: x.clients.add(r.ClientAddr),
		proxy:  x.proxies.add(r.ProxyAddr),
		port:   uint32(r.ProxyPort + 1), // None: 0
	}
}

// numberOf gives the number of a name and numbers a new one; the empty name has 0.
func numberOf(names map[string]uint32, name string) uint32 {
	if name == "" {
		return 0
	}
	n, ok := names[name]
	if !ok {
		n = uint32(len(names) + 1)
		names[name] = n
	}
	return n
}

// add gives the numbers of a rule's profile, and of those that stand in for it when addresses are unknown.
func (x *profiles) add(r *Rule, p profile) []uint32 {
	numbers := []uint32{x.number(r, p)}
	if p.client != 0 {
		anyClient := p
		anyClient.client = unknown
		numbers = append(numbers, x.number(r, anyClient))
	}
	if p.proxy != 0 {
		anyProxy := p
		anyProxy.proxy = unknown
		numbers = append(numbers, x.number(r, anyProxy))
	}
	if p.client != 0 && p.proxy != 0 {
		p.client, p.proxy = unknown, unknown
		numbers = append(numbers, x.number(r, p))
	}
	return numbers
}

func (x *profiles) number(r *Rule, p profile) uint32 {
	n, ok := x.numbers[p]
	if !ok {
		n = uint32(len(x.numbers))
		x.numbers[p] = n
		x.used[p.mask()] = true
		x.sums = append(x.sums, sum(r, p))
	}
	return n
}

func sum(r *Rule, p profile) (short [profileSumSize]byte) {
	address := func(number uint32, a *AddressPattern) string {
		switch number {
		case 0:
			return ""
		case unknown:
			return "?"
		}
		return a.key()
	}
	var text []byte
	for _, part := range [...]string{r.Username, r.Schemaname, address(p.client, r.ClientAddr), address(p.proxy, r.ProxyAddr)} {
		text = binary.AppendUvarint(text, uint64(len(part)))
		text = append(text, part...)
	}
	whole := sha256.Sum256(binary.AppendUvarint(text, uint64(p.port)))
	copy(short[:], whole[:])
	return short
}

// find gives the numbers of all profiles that a session fits.
func (x *profiles) find(s *Session) []uint32 {
	var found []uint32
	none := []uint32{0}
	for mask, used := range x.used {
		if !used {
			continue
		}
		var p profile
		clients, proxies := none, none
		if mask&hasUser != 0 {
			p.user = s.user
		}
		if mask&hasSchema != 0 {
			p.schema = s.schema
		}
		if mask&hasPort != 0 {
			p.port = s.port
		}
		if mask&hasClient != 0 {
			clients = s.clients.candidates()
		}
		if mask&hasProxy != 0 {
			proxies = s.proxies.candidates()
		}
		for _, p.client = range clients {
			for _, p.proxy = range proxies {
				if n, ok := x.numbers[p]; ok && p.mask() == mask {
					found = append(found, n)
				}
			}
		}
	}
	return found
}

// candidates are the numbers under which rules with an address pattern are found.
func (f *fits) candidates() []uint32 {
	if f.all {
		return []uint32{unknown}
	}
	return f.numbers
}
