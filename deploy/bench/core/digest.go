package core

import (
	"fmt"

	"github.com/pointsman/pointsman/decision/digest"
	"github.com/pointsman/pointsman/deploy/bench"
)

// digest takes as many statements as the rows of expressions do. What thousands of them cost, which the processor can't
// learn by heart, stands beside it.
func (s *suite) digest() error {
	const few = 64
	texts := statements(random(30), 2048, 13)
	options := digest.DefaultOptions()
	own := digests(texts[:few], &options)
	m := s.meter.Measure(byteSum(texts[:few]), own, byteSum(texts), digests(texts, &options))
	s.report.Add("digest", bench.Result{
		Value: m[1].Median(), Ratio: m[1].Over(m[0]).Median(), Allocs: s.allocs(own),
		Note: fmt.Sprintf("%d statements of %.0f B, hash included; B %.2f ns/B", few, meanLength(texts[:few]), m[0].Median()/meanLength(texts[:few])),
	})
	s.report.Info("digest of many", "%d statements of %.0f B: %.0f ns, %.2f B", len(texts), meanLength(texts), m[3].Median(), m[3].Over(m[2]).Median())
	return nil
}
