package decision

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/pointsman/pointsman/decision/pattern"
)

// expressionKey is what an expression is compiled from.
type expressionKey struct {
	text     string
	caseless bool
}

// expression is what became of it.
type expression struct {
	re  *pattern.Regexp
	err error
}

// compileExpressions compiles each distinct expression of all rules once, on all processors. Rules with the same
// expression share it.
func compileExpressions(list []QueryRule) map[expressionKey]*expression {
	all := make(map[expressionKey]*expression)
	var keys []expressionKey
	for i := range list {
		r := &list[i]
		modifiers, _ := reModifiers(r)
		for _, text := range [...]*string{r.MatchDigest, r.MatchPattern} {
			if text == nil {
				continue
			}
			key := expressionKey{*text, modifiers.Caseless}
			if all[key] == nil {
				all[key] = new(expression)
				keys = append(keys, key)
			}
		}
	}
	const chunk = 64
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (len(keys)+chunk-1)/chunk) {
		workers.Go(func() {
			for {
				end := int(next.Add(chunk))
				if end-chunk >= len(keys) {
					return
				}
				for _, key := range keys[end-chunk : min(end, len(keys))] {
					x := all[key]
					x.re, x.err = pattern.Compile(key.text, key.caseless)
				}
			}
		})
	}
	workers.Wait()
	return all
}

// reModifiers reads re_modifiers; absent ones are CASELESS.
func reModifiers(r *QueryRule) (pattern.Modifiers, error) {
	if r.ReModifiers == nil {
		return pattern.Modifiers{Caseless: true}, nil
	}
	return pattern.ParseModifiers(*r.ReModifiers)
}
