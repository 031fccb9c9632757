package core

import (
	"fmt"

	"github.com/pointsman/pointsman/decision/digest"
	"github.com/pointsman/pointsman/deploy/bench"
)

// digest takes 2,048 distinct statements, so that the processor can't learn them by heart.
func (s *suite) digest() error {
	texts := statements(random(30), 2048, 13)
	options := digest.DefaultOptions()
	own := digests(texts, &options)
	m := s.meter.Measure(byteSum(texts), own)
	s.report.Add("digest", bench.Result{
		Value: m[1].Median(), Ratio: m[1].Over(m[0]).Median(), Allocs: s.allocs(own),
		Note: fmt.Sprintf("%.0f B, hash included; B %.2f ns/B", meanLength(texts), m[0].Median()/meanLength(texts)),
	})
	return nil
}
