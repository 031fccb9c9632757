//go:build race

package pattern

// raceEnabled tells tests to do less, and that pools drop things at random.
const raceEnabled = true
