package rules

// Bounds of a walk's restarts, far above what real rules need.
const (
	// maxUnsteadyRestarts is how often a walk that rewrites or draws keeps starting again. Any other walk comes
	// round in a circle, which is cut short without changing its outcome.
	maxUnsteadyRestarts = 1000
	// freeRestarts is how many restarts there are whatever they cost; later ones end with maxSearched.
	freeRestarts = 100
	// maxSearched is how many bytes of text all restarts may search, taken that each searches the whole text.
	maxSearched = 64 << 20
)

// circle finds out that a walk goes round in a circle. Without rewrites and draws a walk from the first rule depends
// on its flag alone, so a flag seen again means that whole rounds can be left out.
type circle struct {
	flag     int32  // the flag of the restart that later ones are compared with; None: there is none yet
	restarts uint32 // since that one
	patience uint32 // after so many a later one is compared with (Brent's way of finding circles)
	total    uint32
	unsteady bool // a rewrite or draw since the last restart
	skipped  bool
}

// restart is called at each restart, with the number of those still allowed, and tells whether it is to happen.
func (c *circle) restart(w *Walk, left *uint32) bool {
	c.total++
	w.searched += len(w.Text)
	if c.total > freeRestarts && w.searched > maxSearched {
		return false
	}
	if c.unsteady {
		c.unsteady = false
		c.flag = None
		return c.total <= maxUnsteadyRestarts
	}
	if c.skipped || !w.Truncated { // until then the hits are listed one by one
		return true
	}
	c.restarts++
	switch {
	case c.flag == None:
		c.flag, c.restarts, c.patience = w.Flag, 0, 1
	case c.flag == w.Flag:
		*left %= c.restarts
		c.skipped = true
	case c.restarts == c.patience:
		c.flag, c.restarts, c.patience = w.Flag, 0, 2*c.patience
	}
	return true
}
