package digest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// Rules that the vectors do not reach, or that deserve a name.
func TestCompute(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, sql, want string
		change          func(*Options)
	}{
		{"nothing", "", "", nil},
		{"blanks only", " \t\r\n", "", nil},
		{"lone semicolon", " ; ", ";", nil},
		{"semicolons only", ";;;", ";", nil},
		{"leading blanks go", "\n\t select\r\n a", "select a", nil},

		{"a number and a letter at the end are a number", "select 9x", "select ?", nil},
		{"not when more follows", "select 9x;", "select 9x", nil},
		{"not with two letters", "select 12abc", "select 12abc", nil},
		{"point at the very end", "select 5.", "select ?.", nil},
		{"point before a blank", "select 5. ", "select ?", nil},
		{"any mix of digits, points and exponents", "select 3e, 1e+, 1.5e, 1e5e2, 1ee1, 1.2.3 x", "select ?,?,?,?,?,? x", nil},
		{"hexadecimal", "select 0x1F, 0XFF, 0xZZ, 0x1G from t", "select ?,?,0xZZ,0x1G from t", nil},
		{"bytes from 0x80 on end numbers", "select 1é from t", "select ?é from t", nil},
		{"after a string", "select 'a'1 from t", "select ?? from t", nil},

		{"doubled quotes and escapes", `select 'a''b', 'a\'', "x""y"`, "select ?,?,?", nil},
		{"unterminated string", "select 'a", "select", nil},
		{"unterminated after a doubled quote", "select 'a''", "select", nil},
		{"quote in backticks", "select `a'b`, `c` from t where d='x'", "select `a?x", nil},

		{"third dash", "select 1 --- c", "select ?-- c", nil},
		{"no blank after the dashes", "select 1 --c", "select ?--c", nil},
		{"line end after the dashes belongs to the opener", "select a --\nb\nc", "select a c", nil},
		{"an opener at the end of a comment line", "select a -- b --\nc\nd", "select a d", nil},
		{"hash comment ends with the line", "select # --\na", "select a", nil},
		{"line comment of n+1 bytes at the end leaks", "select 1 # c", "select ? c", nil},
		{"n+2 bytes do not", "select 1 #end", "select ?", nil},
		{"nor n bytes", "select 1 #x", "select ?", nil},
		{"four bytes after dashes leak", "select 1 -- aaaa", "select ? aaaa", nil},
		{"three do not", "select 1 -- aaa", "select ?", nil},
		{"one byte after a block opener leaks", "select 1/*x", "select ? x", nil},
		{"one byte after a version opener leaks", "select 1/*!x", "select ? x", nil},
		{"two do not", "select 1/*xy", "select ?", nil},
		{"empty unterminated comment", "select 1/*!", "select ?", nil},
		{"stray closer", "/* c */*/ values", "values", nil},
		{"closer and star open a comment", "select /*+ x */* from t", "select", nil},
		{"star of the opener closes", "select /*/ 1 /* x */ + 2", "select ?+?", nil},
		{"version comment keeps its literals", "/*!40101 SET a=1,\n\tb='x' */", "SET a=1,b='x'", nil},
		{"version comment without a word", "/*!32302 1/0, */ 5", ",?", nil},
		{"comment is a blank", "select/*x y*/1", "select ?", nil},

		{"arithmetic signs and values", "select a * 2, 2 * a, a % 2, a / 2, a = 2", "select a *?,?* a,a %?,a /?,a = ?", nil},
		{"sign of a value", "select (-1, - 2), a=-1, a = - 1", "select (?,?),a=?,a = ?", nil},
		{"sign at the start", "-1", "-?", nil},
		{"binary sign after word and blank", "select a - b", "select a  b", nil},
		{"part of an operator", "select a -> 'x'", "select a > ?", nil},
		{"sign after a word", "select a-1, a- 1", "select a-?,a-?", nil},
		{"sign after a parenthesis or a value", "select (a) - 1, 1 - 1", "select (a) -?,?-?", nil},
		{"one dropped byte hides the word", "s ,a -z", "s,a -z", nil},
		{"two do not", "s , a -z", "s,a z", nil},
		{"only a sign's own value joins it", "select ( - .5)", "select ( .?)", nil},

		{"a value behind a sign starts no run", "f(1-2,3,4,5,6)", "f(?-?,?,?,?,?)", nil},
		{"the next one may", "f(1-2,3,4,5,6,7)", "f(?-?,?,?,?,...)", nil},
		{"a value before a sign is not in the run", "f(1,2,3,4,5-6), f(1,2,3,4,5,6-7)", "f(?,?,?,?,?-?),f(?,?,?,...,?-?)", nil},
		{"a prefixed run", "f(x'1',2,3,4,5)", "f(x?,?,?,...)", nil},
		{"the last value must end", "f(1,2,3,4,5 'a')", "f(?,?,?,?,? ?)", nil},
		{"behind an inner parenthesis", "f((a),1,2,3,4,5)", "f((a),?,?,?,?,?)", nil},
		{"outside of parentheses", "select 1,2,3,4,5", "select ?,?,?,?,?", nil},
		{
			"limits above 127", "f(" + strings.Repeat("1,", 300) + "1)", "f(" + strings.Repeat("?,", 200) + "...)",
			func(o *Options) { o.GroupingLimit = 200 },
		},
		{
			"groups", "v (1,2,3),(1,2,3),(1,2,3)", "v (?,...),...",
			func(o *Options) { o.GroupingLimit, o.GroupsGroupingLimit = 1, 1 },
		},
		{
			"the comma behind groups is lost", "v (1,2,3),(1,2,3),(1,2),x", "v (?,...),...(?,?),x",
			func(o *Options) { o.GroupingLimit, o.GroupsGroupingLimit = 1, 1 },
		},
		{
			"also before something else", "v (1,2,3),(1,2,3),x", "v (?,...),...x",
			func(o *Options) { o.GroupingLimit, o.GroupsGroupingLimit = 1, 1 },
		},
		{
			"groups after something else", "v (1,2,3),(1,2,3) x", "v (?,...),... x",
			func(o *Options) { o.GroupingLimit, o.GroupsGroupingLimit = 1, 1 },
		},

		{
			"limit counts what is kept", "select /* a long comment here */ abcdefghijkl", "select abcdefghijkl",
			func(o *Options) { o.MaxQueryLength = 20 },
		},
		{
			"limit inside a number ends the text", "select 1234567890123 from t", "select ?",
			func(o *Options) { o.MaxQueryLength = 16 },
		},
		{
			"limit inside a word", "select abcdefghijklmnop", "select abcdefghi",
			func(o *Options) { o.MaxQueryLength = 16 },
		},
		{
			"dropped bytes are room", "f( a, b, c, d1234567", "f(a,b,c,d1234567",
			func(o *Options) { o.MaxQueryLength = 16 },
		},
		{
			"dashes behind the limit", "SELECT '01JSQMJPDJEF'  -- cmt: foo", "SELECT ?- cmt: foo",
			func(o *Options) { o.MaxQueryLength = 25 },
		},
		{"no room at all", "select 1", "", func(o *Options) { o.MaxQueryLength = -1 }},

		{"lowercase", "SELECT A, É, 'B' /*!1 C */", "select a,É,? C", func(o *Options) { o.Lowercase = true }},
		{"replace_null", "NULL, a.null, nullx, xnull, NULL", "?,a.?,nullx,xnull,?", func(o *Options) { o.ReplaceNull = true }},
		{"no_digits", "select t1, t_2024_05, 0b11, 12abc from x9", "select t?,t_?_?,?b?,?abc from x?", func(o *Options) { o.NoDigits = true }},
		{
			"keep_comment", "select /* a */ b, /*!50000 c */ d /**/ , /*! */ e -- f\n", "select /* a */ b,/*50000 c */ d,e",
			func(o *Options) { o.KeepComment = true },
		},
	}
	var b Buffer
	for _, tt := range tests {
		o := DefaultOptions()
		if tt.change != nil {
			tt.change(&o)
		}
		got := Compute(&b, []byte(tt.sql), &o)
		if string(got.Text) != tt.want {
			t.Errorf("%s: digest text of %q\n got %q\nwant %q", tt.name, tt.sql, got.Text, tt.want)
		}
		if want := Hash([]byte(tt.want), o.MaxDigestLength); got.Hash != want {
			t.Errorf("%s: hash %s, want %s", tt.name, Format(got.Hash), Format(want))
		}
	}
}

func TestFirstComment(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2000)
	tests := []struct {
		sql, want string
		has       bool
	}{
		{"select 1", "", false},
		{"select 1 -- /* a */\n# /* b */", "", false},
		{"select '/* a */'", "", false},
		{"select 1/*", "", false},
		{"/**/ /* a */ select 1", "", true},
		{"select 1 /* a */ /* b */", " a ", true},
		{"/*\ta\r\nb\n*/", " a  b ", true},
		{"/*!40101 SET a */", "40101 SET a ", true},
		{"/*+ a */", "+ a ", true},
		{"select 1 /* hostgroup=5", " hostgroup=5", true},
		{"/*" + long + "*/ select 1", long[:1021], true},
		{"/*/ select 1", "", true},
	}
	var b Buffer
	o := DefaultOptions()
	for _, tt := range tests {
		got := Compute(&b, []byte(tt.sql), &o)
		if got.HasComment != tt.has || string(got.FirstComment) != tt.want {
			t.Errorf("first comment of %.60q: got %v %q, want %v %q", tt.sql, got.HasComment, got.FirstComment, tt.has, tt.want)
		}
	}
}

// hostile are texts that would hurt a digest that is not linear, each repeated up to the wanted size.
var hostile = []string{
	"(", "?,", "(?,", "(1,2,3,4,5),", "(1,1)", "--\n", "-- ", "-", "'", "''", `\'`, "/*", "*/", "/*/", "/*!1 */", "#\n", "1e", "0x",
	"1e+1x", "9", "`", "`a", "/*! ", "- -1 ", "@1.", "N'", "(1),", "))", "1.", " ", " ,", ", ", " + ", "a - ", "null ", "\x00", "é", "f(1 ,", "1a ", ". ",
}

func repeatTo(s string, n int) []byte {
	return bytes.Repeat([]byte(s), n/len(s)+1)[:n]
}

// The work of a text must grow with its length and not faster, so a large hostile text ends soon.
func TestHostile(t *testing.T) {
	t.Parallel()
	var b Buffer
	for _, limit := range []int{64, 65000, 1 << 20} {
		for _, s := range hostile {
			o := DefaultOptions()
			o.MaxQueryLength, o.GroupingLimit = limit, 2000
			sql := repeatTo(s, 1<<20)
			for _, o.Corrected = range []bool{false, true} {
				if got := Compute(&b, sql, &o); len(got.Text) > limit {
					t.Errorf("%q repeated: %d bytes of text, limit %d", s, len(got.Text), limit)
				}
			}
		}
	}
}

func TestComputeDoesNotAllocate(t *testing.T) {
	var b Buffer
	o := DefaultOptions()
	sql := []byte("/* hostgroup=1 */ select 'a', 12 from t where id in (1,2,3,4,5) and b = - 5 /*!40101 and c */ -- x\n")
	for _, o.Corrected = range []bool{false, true} {
		if n := testing.AllocsPerRun(100, func() { Compute(&b, sql, &o) }); n != 0 {
			t.Errorf("corrected %v: %v allocations, want 0", o.Corrected, n)
		}
	}
}

// benchmarkTexts are the vectors that look like an application's statements.
func benchmarkTexts(tb testing.TB) (texts [][]byte, size int) {
	tb.Helper()
	for _, v := range load[vector](tb, "digests.json") {
		if sql := bytesOf(v.SQL, v.RawSQL); len(sql) >= 80 && len(sql) <= 400 && (v.ID[0] == 'H' || v.ID[0] == 'O') {
			texts = append(texts, sql)
			size += len(sql)
		}
	}
	return texts, size
}

// BenchmarkCompute compares one digest of each text with adding up the bytes of the texts.
func BenchmarkCompute(b *testing.B) {
	texts, size := benchmarkTexts(b)
	o := DefaultOptions()
	run := func(name string, o Options) {
		var buffer Buffer
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for _, text := range texts {
					Compute(&buffer, text, &o)
				}
			}
		})
	}
	run("digest", o)
	o.Corrected = true
	run("corrected", o)
	b.Run("bytesum", func(b *testing.B) {
		b.SetBytes(int64(size))
		sum := 0
		for b.Loop() {
			for _, text := range texts {
				for _, c := range text {
					sum += int(c)
				}
			}
		}
		if sum == 0 {
			b.Fatal("no bytes")
		}
	})
}

func ExampleCompute() {
	var b Buffer
	o := DefaultOptions()
	got := Compute(&b, []byte("SELECT c /* hostgroup=2 */ FROM t WHERE id IN (1, 2, 3, 4, 5)"), &o)
	fmt.Printf("%s\n%s\n%s\n", Format(got.Hash), got.Text, got.FirstComment)
	// Output:
	// 0xA3ECCFF22AB89B96
	// SELECT c FROM t WHERE id IN (?,?,?,...)
	//  hostgroup=2
}
