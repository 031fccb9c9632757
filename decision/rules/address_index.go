package rules

import (
	"net/netip"
	"slices"
)

// addressIndex finds which of many address patterns an address fits. Patterns are numbered from 1.
type addressIndex struct {
	list     []*AddressPattern // each distinct pattern once; the first has number 1
	numbers  map[string]uint32 // by AddressPattern.key
	exact    map[string]uint32
	prefixes map[string][]uint32 // patterns with a wildcard, by the text before the first one
	lengths  []int               // of those texts, each once
	blocks   map[netip.Prefix][]uint32
	bits     []int // lengths of those blocks, each once
}

func newAddressIndex() *addressIndex {
	return &addressIndex{
		numbers:  make(map[string]uint32),
		exact:    make(map[string]uint32),
		prefixes: make(map[string][]uint32),
		blocks:   make(map[netip.Prefix][]uint32),
	}
}

// add gives the pattern's number, 0 for none.
func (x *addressIndex) add(p *AddressPattern) uint32 {
	if p == nil {
		return 0
	}
	key := p.key()
	if n, ok := x.numbers[key]; ok {
		return n
	}
	x.list = append(x.list, p)
	n := uint32(len(x.list))
	x.numbers[key] = n
	switch prefix := p.fixedPrefix(); {
	case p.blocks != nil:
		for _, b := range p.blocks {
			x.blocks[b] = append(x.blocks[b], n)
			x.bits = addOnce(x.bits, b.Bits())
		}
	case p.prefix || p.wild:
		x.prefixes[prefix] = append(x.prefixes[prefix], n)
		x.lengths = addOnce(x.lengths, len(prefix))
	default:
		x.exact[p.text] = n
	}
	return n
}

func addOnce(list []int, n int) []int {
	if slices.Contains(list, n) {
		return list
	}
	return append(list, n)
}

// find gives the numbers of all patterns that a known address fits, ascending.
func (x *addressIndex) find(text string) []uint32 {
	var found []uint32
	if n := x.exact[text]; n != 0 {
		found = append(found, n)
	}
	addr := Address{Text: text}
	for _, length := range x.lengths {
		if length > len(text) {
			continue
		}
		for _, n := range x.prefixes[text[:length]] {
			if x.list[n-1].Match(&addr) {
				found = append(found, n)
			}
		}
	}
	if ip, ok := addr.parsed(); ok && len(x.bits) > 0 {
		found = x.findBlocks(found, ip)
		if inner := ip.Unmap(); inner != ip {
			found = x.findBlocks(found, inner) // see inBlocks
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func (x *addressIndex) findBlocks(found []uint32, ip netip.Addr) []uint32 {
	for _, bits := range x.bits {
		if block, err := ip.Prefix(bits); err == nil {
			found = append(found, x.blocks[block]...)
		}
	}
	return found
}

// fits are the patterns of one addressIndex that an address fits.
type fits struct {
	all     bool // an unknown address
	numbers []uint32
}

func (x *addressIndex) fits(text string) fits {
	if text == "" {
		return fits{all: true}
	}
	return fits{numbers: x.find(text)}
}

// has tells whether the pattern with this number is among them; 0 is no pattern and fits.
func (f *fits) has(n uint32) bool {
	if n == 0 || f.all {
		return true
	}
	if len(f.numbers) > 8 {
		_, found := slices.BinarySearch(f.numbers, n)
		return found
	}
	return slices.Contains(f.numbers, n)
}
