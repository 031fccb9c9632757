package digest

import "encoding/binary"

// A flow holds for every byte what it needs of the byte before it in order to be copied as it is, and in the upper four
// bits what the byte lacks that the next one may need.
type flow [256]uint8

const (
	needsWord    = 1 << iota // A digit needs a word byte before it, or else starts a number.
	needsName                // A point needs a name before it, or else may start a number.
	needsNoBlank             // A blank needs something else before it.
	needsMore                // It is never copied as it is.
)

// flowSet holds the flow for every combination of no_digits and replace_null.
type flowSet [2][2]flow

func (s *flowSet) of(o *Options) *flow {
	noDigits, null := 0, 0
	if o.NoDigits {
		noDigits = 1
	}
	if o.ReplaceNull {
		null = 1
	}
	return &s[noDigits][null]
}

var compatibleFlows, correctedFlows = newFlows(&kinds), newFlows(&correctedKinds)

func newFlows(kinds *[256]kind) *flowSet {
	var s flowSet
	for noDigits := range s {
		for null := range s[noDigits] {
			for c, k := range kinds {
				needs, lacks := uint8(needsMore), uint8(needsMore|needsWord|needsName)
				switch {
				case k == kindOther, k == kindWord:
					needs = 0
					if null == 1 && c|0x20 == 'n' {
						needs = needsWord
					}
				case k == kindDigit && noDigits == 0:
					needs = needsWord
				case k == kindPoint:
					needs = needsName
				case c == ' ':
					needs, lacks = needsNoBlank, lacks|needsNoBlank
				}
				switch {
				case k == kindWord, k == kindDigit:
					lacks = needsMore
				case k == kindPoint, kinds['.'] == kindPoint && c == '@': // The corrected digest takes @1 and a.1 for names.
					lacks = needsMore | needsName
				}
				s[noDigits][null][c] = needs | lacks<<4
			}
		}
	}
	return &s
}

// end tells where the run that starts at i ends. The first byte is taken for granted.
func (f *flow) end(sql []byte, i int) int {
	lacks := uint8(0)
	for i <= len(sql)-8 {
		b := (*[8]byte)(sql[i : i+8])
		v := f[b[0]]
		if v&lacks != 0 {
			return i
		}
		u := f[b[1]]
		if u&(v>>4) != 0 {
			return i + 1
		}
		v = f[b[2]]
		if v&(u>>4) != 0 {
			return i + 2
		}
		u = f[b[3]]
		if u&(v>>4) != 0 {
			return i + 3
		}
		v = f[b[4]]
		if v&(u>>4) != 0 {
			return i + 4
		}
		u = f[b[5]]
		if u&(v>>4) != 0 {
			return i + 5
		}
		v = f[b[6]]
		if v&(u>>4) != 0 {
			return i + 6
		}
		u = f[b[7]]
		if u&(v>>4) != 0 {
			return i + 7
		}
		lacks = u >> 4
		i += 8
	}
	for i < len(sql) {
		v := f[sql[i]]
		if v&lacks != 0 {
			break
		}
		lacks = v >> 4
		i++
	}
	return i
}

// run copies the bytes from i on that nothing is to be done about, as far as there is room: word bytes, other bytes
// without a meaning, and single blanks. The first byte must be one of them, and no blank. It returns where it stopped.
func (p *compatible) run(sql []byte, i int) int {
	n := min(p.flow.end(sql, i)-i, p.end-p.w)
	copyRun(p.buf[p.w:], sql[i:], n)
	if p.o.Lowercase {
		lowercase(p.buf[p.w : p.w+n])
	}
	p.w += n
	i += n
	p.last = stateOf[sql[i-1]]
	if p.last == atBlank {
		p.before = stateOf[sql[i-2]]
	}
	return i
}

// slack is the number of bytes behind the end of a run that copyRun may overwrite.
const slack = 32

// copyRun copies n bytes. Most runs are short: copying always the same number of bytes is cheaper than to look how many
// there are.
func copyRun(dst, src []byte, n int) {
	if n <= slack && len(src) >= slack && len(dst) >= slack {
		*(*[slack]byte)(dst) = *(*[slack]byte)(src)
		return
	}
	copy(dst[:n], src[:n])
}

// lowercase makes capitals small.
func lowercase(text []byte) {
	for len(text) >= 8 {
		x := binary.LittleEndian.Uint64(text)
		binary.LittleEndian.PutUint64(text, x|capitals(x)>>2)
		text = text[8:]
	}
	for k, c := range text {
		text[k] = c | byte(classes[c]&capital)
	}
}
