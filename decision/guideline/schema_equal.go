package guideline

import (
	"cmp"
	"slices"
	"strconv"
)

// equalItems finds the first element that equals an earlier one; 0, 0 if all differ.
func equalItems(items []jsonValue) (first, second int) {
	seen := make(map[string]int, len(items))
	for i := range items {
		key := string(appendCanonical(nil, &items[i]))
		if earlier, ok := seen[key]; ok {
			return earlier, i
		}
		seen[key] = i
	}
	return 0, 0
}

// appendCanonical writes a value so that two are equal as JSON if their texts are: members sorted, of a repeated key the
// last, numbers by their value.
func appendCanonical(out []byte, v *jsonValue) []byte {
	switch v.kind {
	case jsonString:
		return strconv.AppendQuote(out, v.text)
	case jsonNumber:
		n, _ := strconv.ParseFloat(v.text, 64) // the scanner let only what fits pass
		return strconv.AppendFloat(out, n+0, 'g', -1, 64)
	case jsonArray:
		out = append(out, '[')
		for i := range v.children {
			out = append(appendCanonical(out, &v.children[i]), ',')
		}
		return append(out, ']')
	case jsonObject:
		out = append(out, '{')
		for _, member := range lastMembers(v) {
			out = append(strconv.AppendQuote(out, member.key), ':')
			out = append(appendCanonical(out, member), ',')
		}
		return append(out, '}')
	default:
		return append(out, v.text...)
	}
}

// lastMembers gives an object's members by key, of a repeated key the last.
func lastMembers(v *jsonValue) []*jsonValue {
	members := make([]*jsonValue, len(v.children))
	for i := range v.children {
		members[len(members)-1-i] = &v.children[i]
	}
	slices.SortStableFunc(members, func(a, b *jsonValue) int { return cmp.Compare(a.key, b.key) })
	return slices.CompactFunc(members, func(a, b *jsonValue) bool { return a.key == b.key })
}
