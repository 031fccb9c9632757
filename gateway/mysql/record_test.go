package mysql

import (
	"bytes"
	"testing"
)

func TestRecord(t *testing.T) {
	for _, tt := range []struct {
		name   string
		limit  int
		spans  []string
		rows   bool
		copied bool
	}{
		{"a result set", 20, []string{"\x01\x00\x00\x01\x02", "rest"}, true, true},
		{"just fits", 9, []string{"\x01\x00\x00\x01\x02", "rest"}, true, true},
		{"too long", 8, []string{"\x01\x00\x00\x01\x02", "rest", "x"}, false, false},
		{"OK", 20, []string{"\x07\x00\x00\x01\x00"}, false, true},
		{"ERR", 20, []string{"\x07\x00\x00\x01\xff"}, false, true},
		{"request for a file", 20, []string{"\x07\x00\x00\x01\xfb"}, false, true},
		{"EOF", 20, []string{"\x05\x00\x00\x01\xfe"}, false, true},
		{"no packet", 20, []string{"\x00\x00\x00\x01"}, false, true},
		{"nothing", 20, nil, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := Record{Limit: tt.limit}
			var all []byte
			for _, span := range tt.spans {
				r.add([]byte(span))
				all = append(all, span...)
			}
			if r.HasRows() != tt.rows || r.TooLong == tt.copied || tt.copied != bytes.Equal(r.Response, all) {
				t.Errorf("%+v, has rows %v", r, r.HasRows())
			}
		})
	}
}
