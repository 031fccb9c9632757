package digest

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// pieces are what random statements are made of: all that some rule of the digest looks at.
var pieces = []string{
	" ", " ", " ", "  ", "\t", "\n", "\r\n", ",", ",", ",", ", ", " ,", "(", "(", ")", ")", "()", "?", "?", ";", ".", "=", "<", "@", ":", "!", "|",
	"+", "-", "+", "-", " - ", " + ", "*", "/", "%", " * ", " -1", "- 1", "--", "---", "-- ", "--\n", "-- c\n", "#", "# c\n", "#\n", "->", "<<",
	"/*", "*/", "/* c */", "/**/", "/*!", "/*! ", "/*!40101 ", "/*!50000 a=1,'x' */", "/*+ h */", "/*/", "/* a ? ( , */", "!",
	"'", "'", `"`, "`", "'a'", "'it''s'", `'\''`, `"b"`, "`c`", "`t1`", `\`, "N'x'", "x'41'", "_utf8'x'", "''", `""`,
	"0", "1", "2", "12", "1.5", ".5", "5.", "1e5", "1E-5", "1e", "1e+", "0x1F", "0xZZ", "0b101", "12abc", "1_0", "9x", "1.2.3", "e", "E+", "x",
	"a", "b", "t1", "t_2024_05", "SELECT", "select", "FROM", "WHERE", "AND", "in", "NULL", "null", "Null", "nullx", "N", "n", "$", "_", "A1b2",
	"(1,2,3)", "(1,2,3,4,5)", "(1,2,3,4,5),", "(?,?,?,...)", "(?,?,?,...),(?,?,?,...)", "...", "1,2,3,4,5", ",1,2", "(1),(2)", "(1,2),(3,4)", "f(", "VALUES ",
	"(1 , 2 , 3 , 4 , 5 , 6)", "(-1,-2,-3,-4,-5,-6)", "('a','b','c','d','e','f')", "((1),2,3,4,5,6)", "(1,...)", "(...)",
	"\x00", "\xff", "\xc3", "é", "\x80", "\u00a0", "\v", "\f", "日本",
}

// randomStatement strings together up to n pieces, and bytes of any kind.
func randomStatement(r *rand.Rand, n int) []byte {
	var sql []byte
	for range r.IntN(n) + 1 {
		switch r.IntN(40) {
		case 0:
			sql = append(sql, byte(r.IntN(256)))
		case 1:
			sql = append(sql, bytes.Repeat([]byte(pieces[r.IntN(len(pieces))]), r.IntN(5))...)
		default:
			sql = append(sql, pieces[r.IntN(len(pieces))]...)
		}
	}
	return sql
}

func randomOptions(r *rand.Rand, n int) Options {
	o := Options{
		MaxQueryLength: 65000, MaxDigestLength: 2048, GroupingLimit: r.IntN(5), GroupsGroupingLimit: r.IntN(4),
		Lowercase: r.IntN(4) == 0, ReplaceNull: r.IntN(4) == 0, NoDigits: r.IntN(4) == 0, KeepComment: r.IntN(4) == 0,
	}
	if r.IntN(2) == 0 {
		o.MaxQueryLength = r.IntN(n + 4)
	}
	if r.IntN(3) == 0 {
		o.MaxDigestLength = r.IntN(n + 4)
	}
	return o
}

// checkDigest compares Compute with the reference, and with itself on a copy of the text at another place in memory and
// with a Buffer that nobody used before.
func checkDigest(t *testing.T, b *Buffer, sql []byte, o *Options) {
	t.Helper()
	before := bytes.Clone(sql)
	got := Compute(b, sql, o)
	text, comment := bytes.Clone(got.Text), bytes.Clone(got.FirstComment)
	if !bytes.Equal(sql, before) {
		t.Fatalf("the statement was changed: %q, was %q", sql, before)
	}
	if bound := max(0, min(o.MaxQueryLength, 2*len(sql))); len(text) > bound {
		t.Fatalf("%q: %d bytes of digest text, at most %d wanted", sql, len(text), bound)
	}
	if len(comment) > maxComment || len(comment) > 0 && !got.HasComment {
		t.Fatalf("%q: first comment %q, has %v", sql, comment, got.HasComment)
	}
	if want := Hash(text, o.MaxDigestLength); got.Hash != want {
		t.Fatalf("%q: hash %x, want %x", sql, got.Hash, want)
	}
	moved := append(make([]byte, 0, len(sql)+3), "???"...)
	moved = append(moved, sql...)[3:]
	var fresh Buffer
	again := Compute(&fresh, moved, o)
	if !bytes.Equal(again.Text, text) || !bytes.Equal(again.FirstComment, comment) || again.Hash != got.Hash {
		t.Fatalf("%q %+v: a fresh buffer gives %q %q, a used one %q %q", sql, *o, again.Text, again.FirstComment, text, comment)
	}
	if o.Corrected {
		return
	}
	want := reference(sql, o)
	if !bytes.Equal(text, want.Text) || got.HasComment != want.HasComment || !bytes.Equal(comment, want.FirstComment) {
		t.Fatalf("%q %+v\n got %q %v %q\nwant %q %v %q", sql, *o, text, got.HasComment, comment, want.Text, want.HasComment, want.FirstComment)
	}
}

// checkIdempotent checks that a corrected digest text is its own.
func checkIdempotent(t *testing.T, b *Buffer, sql []byte, o *Options) {
	t.Helper()
	text := bytes.Clone(Compute(b, sql, o).Text)
	if got := Compute(b, text, o).Text; !bytes.Equal(got, text) {
		t.Fatalf("%q %+v\ngives         %q\nand that gives %q", sql, *o, text, got)
	}
}

func TestRandom(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var b Buffer
	for range 100_000 {
		sql := randomStatement(r, 12)
		o := randomOptions(r, len(sql))
		checkDigest(t, &b, sql, &o)
		o.Corrected = true
		checkDigest(t, &b, sql, &o)
		o.MaxQueryLength = 1 << 20 // A text that was cut may end in another word.
		checkIdempotent(t, &b, sql, &o)
	}
}

func FuzzDigest(f *testing.F) {
	for _, v := range load[vector](f, "digests.json") {
		o := v.options()
		f.Add(bytesOf(v.SQL, v.RawSQL), o.MaxQueryLength, o.GroupingLimit, o.GroupsGroupingLimit, o.Lowercase, o.ReplaceNull, o.NoDigits, o.KeepComment)
	}
	for _, s := range hostile {
		f.Add(repeatTo(s, 200), 50, 2, 2, true, true, true, true)
	}
	r := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		sql := randomStatement(r, 30)
		o := randomOptions(r, len(sql))
		f.Add(sql, o.MaxQueryLength, o.GroupingLimit, o.GroupsGroupingLimit, o.Lowercase, o.ReplaceNull, o.NoDigits, o.KeepComment)
	}
	var b Buffer
	f.Fuzz(func(t *testing.T, sql []byte, limit, grouping, groups int, lowercase, null, digits, keep bool) {
		o := Options{
			MaxQueryLength: limit, MaxDigestLength: 100, GroupingLimit: grouping, GroupsGroupingLimit: groups,
			Lowercase: lowercase, ReplaceNull: null, NoDigits: digits, KeepComment: keep,
		}
		checkDigest(t, &b, sql, &o)
		o.Corrected = true
		checkDigest(t, &b, sql, &o)
		o.MaxQueryLength = 2*len(sql) + 2
		checkIdempotent(t, &b, sql, &o)
	})
}
