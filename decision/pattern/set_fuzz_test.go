package pattern

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// FuzzSet holds that a set of the expressions in the lines finds what each of them alone finds, whatever it may keep,
// and that Go's regexp finds the same where the two agree on the meaning.
func FuzzSet(f *testing.F) {
	f.Add("^select .* from t1 where\n^select .* from t2\nfor update$", "SELECT a FROM t2 FOR UPDATE\n", true, 0)
	f.Add("(?m)^a$\n\\bb\\B\n[^a]{2,3}\n(a|b)*a(a|b){4}c", "a\nabba\xff\x00bbaabbc", false, 1)
	f.Add(".\n\\w+\n\\W*?x\n(a*|b)*$\n\\z\n|", "ab", true, 30_000)
	f.Add("JOIN d1_.*z\nJOIN d2_.*z\nJOIN d3_.*z", "JOIN d1_ JOIN d3_ z", false, 20_000)
	f.Fuzz(func(t *testing.T, lines, text string, caseless bool, memory int) {
		exprs := strings.Split(lines, "\n")
		if len(text) > 1<<10 || len(exprs) > 100 {
			return
		}
		var list []*Regexp
		for _, expr := range exprs {
			if re, err := Compile(expr, caseless); err == nil {
				list = append(list, re)
			}
		}
		want := []int32{}
		for i, re := range list {
			if !re.InSet() {
				continue
			}
			found, err := re.MatchErr([]byte(text))
			if err != nil {
				return
			}
			if found {
				want = append(want, int32(i))
			}
			steps := maxSpent
			if got, err := re.FindWithin([]byte(text), &steps); err == nil && got != found {
				t.Fatalf("%q (caseless %v) in %q: by its own automaton %v, want %v", re.expr, caseless, text, got, found)
			}
			if other := asGo(re, text); other != nil && other.MatchString(text) != found {
				t.Fatalf("%q (caseless %v) in %q: %v, regexp differs", re.expr, caseless, text, found)
			}
		}
		s := NewSet(list, SetOptions{MaxMemory: memory})
		var got Found
		for i, find := range []func(*Found, []byte){s.Find, s.Find, s.FindSlow} {
			find(&got, []byte(text))
			if got.GaveUp {
				if len(list) < 3 {
					t.Fatalf("%q in %q: gave up", exprs, text)
				}
				continue
			}
			if !slices.Equal(got.IDs, want) {
				t.Fatalf("%q (caseless %v, memory %d) in %q, way %d: %v, want %v", exprs, caseless, memory, text, i, got.IDs, want)
			}
		}
		if light := s.lightSet(); light != nil {
			light.Find(&got, []byte(text))
			for id, is := range s.light.is {
				if !got.GaveUp && got.Has(id) != (is && slices.Contains(want, int32(id))) {
					t.Fatalf("%q among the light of %q (caseless %v) in %q: %v", list[id].expr, exprs, caseless, text, got.Has(id))
				}
			}
		}
	})
}

// asGo gives Go's engine for an expression that means the same to it on this text, else nil.
func asGo(re *Regexp, text string) *regexp.Regexp {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return nil
		}
	}
	for i := 0; i < len(re.expr); i++ {
		switch c := re.expr[i]; {
		case c == '\\':
			if i++; i == len(re.expr) || !strings.ContainsRune(`wWdDbB`, rune(re.expr[i])) {
				return nil
			}
		case c == '(' && i+1 < len(re.expr) && (re.expr[i+1] == '?' || re.expr[i+1] == '*'):
			return nil
		case c == '[' && i+1 < len(re.expr) && re.expr[i+1] == ':':
			return nil
		case !isWord(c) && !strings.ContainsRune(" .*+?|()[]^-,=;<>!@#%&~\"'`", rune(c)):
			return nil
		}
	}
	expr := re.expr
	if re.caseless {
		expr = "(?i)" + expr
	}
	other, err := regexp.Compile(expr)
	if err != nil {
		return nil
	}
	return other
}
