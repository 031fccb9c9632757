//go:build race

package decision_test

// raceDetector tells whether the race detector is on, which makes sync.Pool forget things.
const raceDetector = true
