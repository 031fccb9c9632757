package fastroute

import (
	"math/bits"
	"slices"
)

// perfect gives each of a fixed set of hashes a place of its own, in about 1.1 places a hash. A lookup is one probe
// whether the hash is in the set or not: there is no chain whose length the processor could guess wrongly.
//
// Hashes fall into small buckets, and each bucket has a pilot: a number, found by trying, that sends the bucket's hashes
// to places that no other one has.
type perfect struct {
	pilots []uint16
	places uint64
}

const (
	bucketHashes = 5 // on average
	maxPilot     = 1<<16 - 1

	pilotFactor = 0x9E3779B97F4A7C15
	placeFactor = 0xD6E8FEB86659FD93
)

// bucket and place need hashes that are random in all bits.
func (p *perfect) bucket(hash uint64) uint64 {
	high, _ := bits.Mul64(hash, uint64(len(p.pilots)))
	return high
}

func (p *perfect) place(hash uint64) uint64 {
	return p.placeBy(hash, p.pilots[p.bucket(hash)])
}

func (p *perfect) placeBy(hash uint64, pilot uint16) uint64 {
	high, _ := bits.Mul64((hash^uint64(pilot)*pilotFactor)*placeFactor, p.places)
	return high
}

// newPerfect works for hashes that all differ. It may fail for others: then take another hash function.
func newPerfect(hashes []uint64) (p perfect, ok bool) {
	p = perfect{pilots: make([]uint16, len(hashes)/bucketHashes+1), places: uint64(len(hashes) + len(hashes)/8 + 1)}
	sorted, ends := p.byBucket(hashes)
	largest := 0
	for b := range p.pilots {
		largest = max(largest, len(inBucket(sorted, ends, b)))
	}
	taken := make([]uint64, p.places/64+1)
	places := make([]uint64, 0, largest)
	for size := largest; size > 0; size-- { // the large ones while there is room
		for b := range p.pilots {
			hashes := inBucket(sorted, ends, b)
			if len(hashes) != size {
				continue
			}
			pilot := 0
			for ; pilot <= maxPilot; pilot++ {
				if places = p.try(places[:0], hashes, uint16(pilot), taken); len(places) == size {
					break
				}
			}
			if pilot > maxPilot {
				return p, false
			}
			p.pilots[b] = uint16(pilot)
			for _, at := range places {
				taken[at/64] |= 1 << (at % 64)
			}
		}
	}
	return p, true
}

// try appends the places of a bucket's hashes under a pilot, up to the first one that another hash has.
func (p *perfect) try(places, hashes []uint64, pilot uint16, taken []uint64) []uint64 {
	for _, h := range hashes {
		at := p.placeBy(h, pilot)
		if taken[at/64]>>(at%64)&1 != 0 || slices.Contains(places, at) {
			return places
		}
		places = append(places, at)
	}
	return places
}

// byBucket sorts hashes by their buckets. Those of bucket b are from ends[b] to ends[b+1].
func (p *perfect) byBucket(hashes []uint64) (sorted []uint64, ends []uint32) {
	ends = make([]uint32, len(p.pilots)+2)
	for _, h := range hashes {
		ends[p.bucket(h)+2]++
	}
	for b := 2; b < len(ends); b++ {
		ends[b] += ends[b-1]
	}
	sorted = make([]uint64, len(hashes))
	for _, h := range hashes {
		next := &ends[p.bucket(h)+1]
		sorted[*next] = h
		*next++
	}
	return sorted, ends
}

func inBucket(sorted []uint64, ends []uint32, b int) []uint64 { return sorted[ends[b]:ends[b+1]] }

func (p *perfect) memory() int { return len(p.pilots) * 2 }
