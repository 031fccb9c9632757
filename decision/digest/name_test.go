package digest

import (
	"errors"
	"strings"
	"testing"
)

func TestHash(t *testing.T) {
	t.Parallel()
	type row struct {
		ID     string `json:"id"`
		Digest string `json:"digest_text"`
		Max    int    `json:"max_digest_length"`
		Hash   string `json:"digest_hash"`
	}
	for _, v := range load[row](t, "hashes.json") {
		if got := Format(Hash([]byte(v.Digest), v.Max)); got != v.Hash {
			t.Errorf("%s: hash of %q: got %s, want %s", v.ID, v.Digest, got, v.Hash)
		}
	}
	text := []byte(strings.Repeat("x", 500))
	for _, n := range []int{-1, 0, 1, 191, 192, 193, 288, 500} {
		if got, want := Hash(text, n), Hash(text[:max(n, 0)], 2048); got != want {
			t.Errorf("cut at %d: got %x, want %x", n, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want uint64
	}{
		{"0x642E69E956B35730", 0x642E69E956B35730},
		{"0x00000000000000ff", 255},
		{"0XfF", 255},
		{"255", 255},
		{"0377", 255},
		{"18446744073709551615", 1<<64 - 1},
	}
	for _, tt := range tests {
		got, err := Parse(tt.text)
		if err != nil || got != tt.want {
			t.Errorf("Parse(%q) = %x, %v, want %x", tt.text, got, err, tt.want)
		}
	}
	for _, text := range []string{
		"", "0", "00", "0x0", "0x", "x", "abc", "0x12g", "12 ", " 12", "089", "-1", "+1", "0x 6E817ACFD8D15DC", "1_0",
		"18446744073709551616", "0x10000000000000000",
	} {
		if got, err := Parse(text); !errors.Is(err, ErrSyntax) || got != 0 || !strings.Contains(err.Error(), `"`+text+`"`) {
			t.Errorf("Parse(%q) = %x, %v, want ErrSyntax that names the text", text, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("0x642E69E956B35730", uint64(1))
	f.Add("0377", uint64(0))
	f.Add("12x", uint64(1<<63))
	f.Fuzz(func(t *testing.T, text string, h uint64) {
		if got, err := Parse(text); (err == nil) == (got == 0) {
			t.Fatalf("Parse(%q) = %x, %v", text, got, err)
		}
		if got, err := Parse(Format(h)); h != 0 && (err != nil || got != h) {
			t.Fatalf("Parse(Format(%x)) = %x, %v", h, got, err)
		}
	})
}
