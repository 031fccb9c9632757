package bench

import (
	"runtime"
	"slices"
	"time"
)

// Op is something to be measured: a call of Run makes Per operations.
type Op struct {
	Per int
	Run func()
}

// Meter says how long to measure. The zero value is not ready; take [Standard].
type Meter struct {
	Rounds int           // how many values each op gets
	Slice  time.Duration // CPU time of one turn of an op
	Slices int           // turns in a round
}

// Standard is what the budgets are held with: the median of 6 rounds, in each of which the ops take turns of 8 ms.
var Standard = Meter{Rounds: 6, Slice: 8 * time.Millisecond, Slices: 8}

// Series is an op's CPU time in ns an operation, one value for each round.
type Series []float64

// Measure runs the ops in turns, so that whatever else the machine does meets them all alike, and gives a series for
// each. All ops run unmeasured first.
func (m Meter) Measure(ops ...Op) []Series {
	calls := make([]int, len(ops))
	var longest time.Duration
	for i, op := range ops {
		var turn time.Duration
		calls[i], turn = m.calibrate(op)
		longest = max(longest, turn)
	}
	// Ops that can't be cut short take fewer turns.
	turns := int(min(max(time.Duration(m.Slices)*m.Slice/max(longest, 1), 1), time.Duration(m.Slices)))
	series := make([]Series, len(ops))
	for range m.Rounds {
		spent := make([]time.Duration, len(ops))
		runtime.GC()
		for range turns {
			for i, op := range ops {
				spent[i] += CPU(func() {
					for range calls[i] {
						op.Run()
					}
				})
			}
		}
		for i, op := range ops {
			series[i] = append(series[i], float64(spent[i])/float64(turns*calls[i]*op.Per))
		}
	}
	return series
}

// calibrate gives how many calls fill a turn, and how long the turn then takes.
func (m Meter) calibrate(op Op) (calls int, turn time.Duration) {
	op.Run()
	for calls = 1; ; calls *= 2 {
		turn = CPU(func() {
			for range calls {
				op.Run()
			}
		})
		if turn >= m.Slice/2 {
			return calls, turn
		}
	}
}

// Median is the middle value, or the mean of the two middle ones. It is 0 without values.
func (s Series) Median() float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	mid := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[mid]
	}
	return (sorted[mid-1] + sorted[mid]) / 2
}

// Over divides round by round: both values of a round met the same disturbances. The series must be of one length.
func (s Series) Over(base Series) Series {
	out := make(Series, len(s))
	for i := range s {
		out[i] = s[i] / base[i]
	}
	return out
}
