package api

// LargeText is the length above which a statement counts as large.
const LargeText = largeText

// HoldLarge takes all places for large statements until release is called.
func (s *Decision) HoldLarge() (release func()) {
	for range cap(s.large) {
		s.large <- struct{}{}
	}
	return func() {
		for range cap(s.large) {
			<-s.large
		}
	}
}
