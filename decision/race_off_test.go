//go:build !race

package decision_test

const raceDetector = false
