package selection

import "math"

// draw is what rows are held against.
type draw struct {
	latencyUS int64 // to be below; above 0, so that an unknown latency is
	lagMS     int64 // not to be above
	excluded  Set
	used      Used
	live      bool // excluded or used say something
}

// init takes the limits; excluded and used are set by then. (They are not passed, because that would cost the caller's
// closure an allocation.)
func (d *draw) init(limits *Limits) {
	d.latencyUS = max(int64(limits.DefaultMaxLatencyMS)*1000, 1)
	d.lagMS = math.MaxInt64
	if limits.HasMaxLag {
		d.lagMS = int64(limits.MaxLagMS)
	}
	d.live = len(d.excluded) > 0 || d.used != nil
}

// takes tells whether a row may be drawn.
func (d *draw) takes(r *row) bool { return d.weight(r) > 0 }

// weight gives the row's weight, 0 if it may not be drawn.
func (d *draw) weight(r *row) uint32 { return r.weightIf(d.connections(r), d.latencyUS, d.lagMS) }

func (d *draw) connections(r *row) uint32 {
	if d.live {
		return d.usedNow(r)
	}
	return r.used
}

// weightIf gives the row's weight, 0 if it may not be drawn. It is arithmetic, because a processor that guesses at a
// condition and errs loses more time than all the rest takes: the differences are negative where all is well.
func (r *row) weightIf(used uint32, latencyUS, lagMS int64) uint32 {
	fits := (int64(used) - int64(r.max)) & (r.latencyUS - latencyUS) & (r.lagMS - lagMS - 1)
	return r.weight & uint32(fits>>63)
}

// usedNow gives more connections than any server may have where the server is excluded.
func (d *draw) usedNow(r *row) uint32 {
	switch {
	case d.excluded.Has(int(r.place)):
		return math.MaxUint32
	case d.used != nil:
		return d.used(int(r.place))
	}
	return r.used
}

// twoPass sums up the weights of all rows that may be drawn, in sums, and draws one.
func (d *draw) twoPass(rows []row, sums []uint32, seed uint64) int {
	var sum uint32
	latencyUS, lagMS := d.latencyUS, d.lagMS
	rows = rows[:len(sums)]
	for i := range sums {
		r := &rows[i]
		sum += r.weightIf(d.connections(r), latencyUS, lagMS)
		sums[i] = sum
	}
	if sum == 0 {
		return -1
	}
	return int(rows[firstAbove(sums, below(seed, uint64(sum)))].place)
}

// firstAbove gives the place of the first of sums, which don't fall, that is above n. To count those above is faster
// than to guess where to stop.
func firstAbove(sums []uint32, n uint64) int {
	above := uint64(0)
	for _, s := range sums {
		above += (n - uint64(s)) >> 63
	}
	return len(sums) - int(above)
}

// maxSums is how many rows there is room for when the draws by alias have failed. Their weights fit 32 bits.
const maxSums = 256

// twoPassOfMany has room for more than Pick wants on its stack.
//
//go:noinline
func (d *draw) twoPassOfMany(rows []row, seed uint64) int {
	var sums [maxSums]uint32
	return d.twoPass(rows, sums[:len(rows)], seed)
}
