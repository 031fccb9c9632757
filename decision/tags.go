package decision

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// TagTexts gives the tags of a server as expressions see them: the compact JSON text of each value. Values are what JSON
// decodes to: nil, bool, float64, string, []any and map[string]any; anything else reads null. The keys of objects stand in
// the order in which MySQL keeps them, shorter ones first and equally long ones by their bytes, as MySQL Router sees them.
func TagTexts(tags map[string]any) map[string]string {
	if len(tags) == 0 {
		return nil
	}
	out := make(map[string]string, len(tags))
	for key, value := range tags {
		var b strings.Builder
		writeTag(&b, value)
		out[key] = b.String()
	}
	return out
}

func writeTag(b *strings.Builder, value any) {
	switch v := value.(type) {
	case bool, float64:
		text, err := json.Marshal(v) // fails for NaN and infinities, which JSON lacks
		if err != nil {
			text = []byte("null")
		}
		b.Write(text)
	case string:
		writeTagString(b, v)
	case []any:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			writeTag(b, item)
		}
		b.WriteByte(']')
	case map[string]any:
		b.WriteByte('{')
		keys := slices.SortedFunc(maps.Keys(v), func(x, y string) int { return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)) })
		for i, key := range keys {
			if i > 0 {
				b.WriteByte(',')
			}
			writeTagString(b, key)
			b.WriteByte(':')
			writeTag(b, v[key])
		}
		b.WriteByte('}')
	default:
		b.WriteString("null")
	}
}

// writeTagString escapes no more than JSON demands: expressions compare with the text as it stands.
func writeTagString(b *strings.Builder, s string) {
	const hex = "0123456789ABCDEF"
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c >= ' ':
			b.WriteByte(c)
		case strings.IndexByte("\b\f\n\r\t", c) >= 0:
			b.WriteByte('\\')
			b.WriteByte("bfnrt"[strings.IndexByte("\b\f\n\r\t", c)])
		default:
			b.WriteString("\\u00")
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	b.WriteByte('"')
}
