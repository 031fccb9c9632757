//go:build !race

package e2e

// raceDetector says whether the programs under test are built with the race detector.
const raceDetector = false
