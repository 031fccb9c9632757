package digest

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func correctedOptions() Options {
	o := DefaultOptions()
	o.Corrected = true
	return o
}

func TestCorrected(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, sql, want string
		change          func(*Options)
	}{
		{"nothing", "", "", nil},
		{"blanks only", " \t\r\n\v\f", "", nil},
		{"lone semicolon", " ; ", ";", nil},
		{"blanks", " select\r\n\t a\v,\fb ( c ) ; ", "select a,b (c)", nil},
		{"strings", `select 'it''s', 'a\'b', "x""y", '', ""`, "select ?,?,?,?,?", nil},
		{"strings of a kind", "select N'c', n'c', x'41', X'41', b'01', _utf8'c', an'c'", "select ?,?,?,?,?,_utf8?,an?", nil},
		{"introducer behind a point", "select a.x'41', @x'41'", "select a.x?,@x?", nil},
		{"string without an end", "select 'a", "select ?", nil},
		{"string that ends in an escape", `select 'a\'`, "select ?", nil},
		{"names in backticks", "select `a'b`, `c\"d`, `e``f'`, `g  -- h` from `/*` where a='x'", "select `a'b`,`c\"d`,`e``f'`,`g  -- h` from `/*` where a=?", nil},
		{"name without an end", "select `a b, 'c'", "select `a b, 'c'", nil},
		{"numbers", "select 1, 1.5, .5, 5., 1e5, 1E-5, 1.5e+3, 0xFF, 0b101, 1.2.3", "select ?,?,?,?,?,?,?,?,?,?", nil},
		{"number at the end", "select 5.", "select ?", nil},
		{"no numbers", "select 9x", "select 9x", nil},
		{"names with digits", "select 1ea, 12abc, 1_000, 0xZZ, 0b2, é1, 1é, t.1, `t`.5, @1, $1", "select 1ea,12abc,1_000,0xZZ,0b2,é1,1é,t.1,`t`.5,@1,$1", nil},
		{"number and name", "select 1.5abc, t .5, (a).5", "select ?abc,t ?,(a)?", nil},
		{"hash comment without line end", "select 1 # c", "select ?", nil},
		{"dash comment without line end", "select 1 -- aaaa", "select ?", nil},
		{"dashes at the end", "select 1 --", "select ?", nil},
		{"dashes and a control character", "select 1 --\x01 c\n, 2", "select ?,?", nil},
		{"third dash", "select 1 --- c", "select ? -", nil},
		{"a line ends with LF", "select a -- b\rc\nd # e\nf", "select a d f", nil},
		{"an opener at the end of a comment line", "select a -- b --\nc", "select a c", nil},
		{"line end behind the dashes", "select a --\nb", "select a b", nil},
		{"comment without an end", "select 1/*x", "select ?", nil},
		{"version comment without an end", "select 1/*!x", "select ? x", nil},
		{"star of the opener", "select /*/ 1 /* x */ + 2", "select ?", nil},
		{"stray closer", "select /* c */*/ 1", "select */ ?", nil},
		{"closer and star", "select /*+ x */* from t", "select * from t", nil},
		{"version comment", "/*!40101 SET a=1,\n\tb='x' */", "SET a=?,b=?", nil},
		{"version of six digits", "select /*!080013 a */ b", "select a b", nil},
		{"no version", "select /*! 1 a */, /*!401 b */", "select ? a,? b", nil},
		{"comment inside of a version comment", "select /*!40101 a /* b */ c */ d */", "select a c d */", nil},
		{"signs that belong to values", "select (-1, - 2), a=-1, b = - 1, -1, + 2, - -3 from t where -1 < c and -x'41'=-.5", "select (?,?),a=?,b = ?,?,?,? from t where ? < c and ?=?", nil},
		{"sign at the start", "-1", "?", nil},
		{"binary signs", "select a - 1, a -1, a-1, a + b, a- 1, (a) - 1, 1 - 1, 1 - -1, 1--1, `a`-1, 'a'+1", "select a - ?,a -?,a-?,a + b,a- ?,(a) - ?,? - ?,? - ?,?-?,`a`-?,?+?", nil},
		{"signs behind words", "select -1, SELECT -1, t.select -1, @in -1, mod -1, a between -1 and -2", "select ?,SELECT ?,t.select -?,@in -?,mod ?,a between ? and ?", nil},
		{"sign that belongs to no value", "select a = - b, - - b, -(1), a->'$.x', a -> 1", "select a = - b,- - b,-(?),a->?,a -> ?", nil},
		{"dashes without a blank", "select a--b, a --/* c */b, 1--1", "select a- -b,a - - b,?-?", nil},
		{"comment between sign and value", "select a = - /* c */ 1", "select a = ?", nil},
		{"blanks around signs", "select a * 2, 2 * a, a%2", "select a * ?,? * a,a%?", nil},
		{"lists", "f(1,2,3,4), f(1,2,3,4,5), f(1,2,3,4,5,6)", "f(?,?,?,?),f(?,?,?,...),f(?,?,?,...)", nil},
		{"lists with something else", "f(a,1,2,3,4,5), f(1,2,3,4,5,a), f(1,2,3,4,5 'a'), f(1-2,3,4,5,6), f(1-2,3,4,5,6,7)", "f(a,?,?,?,...),f(?,?,?,...,a),f(?,?,?,?,? ?),f(?-?,?,?,?,?),f(?-?,?,?,?,...)", nil},
		{"lists behind inner parentheses", "f((a),1,2,3,4,5), g(1,(2),3,4,5,6,7)", "f((a),?,?,?,...),g(?,(?),?,?,?,...)", nil},
		{"lists of negative values", "in (-1,-2,- 3,-4,-5)", "in (?,?,?,...)", nil},
		{"lists of hexadecimal strings", "in (x'1',x'2',x'3',x'4',x'5')", "in (?,?,?,...)", nil},
		{"behind parentheses that do not match", "),1,2,3,4,5", "),?,?,?,?,?", nil},
		{"list without an end", "in (1,2,3,4,5,", "in (?,?,?,...,", nil},
		{"rows", "values (1,2), (3,4),\n(5,6)", "values (?,?),...", func(o *Options) { o.GroupsGroupingLimit = 1 }},
		{"rows of another length", "values (1),(2),(3,4),(5,6),(7,8),(9)", "values (?),...,(?,?),...,(?)", func(o *Options) { o.GroupsGroupingLimit = 1 }},
		{"what follows rows", "values (1),(2),(3), x, (1),(2)", "values (?),...,x,(?),...", func(o *Options) { o.GroupsGroupingLimit = 1 }},
		{"rows with something else", "values (1,now()),(2,now())", "values (?,now()),(?,now())", func(o *Options) { o.GroupsGroupingLimit = 1 }},
		{"folded rows", "values (1,2,3,4,5),(1,2,3,4,5,6),(1,2,3,4,5)", "values (?,?,?,...),(?,?,?,...),...", func(o *Options) { o.GroupsGroupingLimit = 2 }},
		{"all rows", "values (1),(2),(3)", "values (?),(?),(?)", func(o *Options) { o.GroupsGroupingLimit = 0 }},
		{"lowercase", "SELECT A, `B`, 'C' /*!1 D */ /*! E */", "select a,`b`,? ? d e", func(o *Options) { o.Lowercase = true }},
		{"replace_null", "select NULL, -null, a.null, nullx, @null, (null,null,null,null,null)", "select ?,?,a.null,nullx,@null,(?,?,?,...)", func(o *Options) { o.ReplaceNull = true }},
		{"no_digits", "12ab t1, t_2024_05, `t 3`, t.45, @67, 8", "?ab t?,t_?_?,`t ?`,t.?,@?,?", func(o *Options) { o.NoDigits = true }},
		{"keep_comment", "select /* a  b */ c, /**/ d /*!50000 1 */ -- f", "select /* a b */ c,/**/ d ?", func(o *Options) { o.KeepComment = true }},
		{"sign behind a comment that is kept", "select a /* c */ -1, b = /* d */ -1", "select a /* c */ -?,b = /* d */ ?", func(o *Options) { o.KeepComment = true }},
		{"comment without an end that is kept", "select a/* b ", "select a /* b", func(o *Options) { o.KeepComment = true }},
		{"limit inside a word", "select abcdefghijklmnop", "select", func(o *Options) { o.MaxQueryLength = 16 }},
		{"limit inside a name", "select a,`abcdefghijklmnop`", "select a,", func(o *Options) { o.MaxQueryLength = 16 }},
		{"what is folded does not count", "in (1,2,3,4,5,6,7,8,9)", "in (?,?,?,...)", func(o *Options) { o.MaxQueryLength = 16 }},
		{"no room at all", "select 1", "", func(o *Options) { o.MaxQueryLength = -1 }},
	}
	var b Buffer
	for _, tt := range tests {
		o := correctedOptions()
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

// templates are statements with places for values.
var templates = []string{
	"select $ from t where a=$ and b in ($,$ , $) or -c = $",
	"SELECT `a'b`, $ FROM t WHERE id - $ > a - $ AND x BETWEEN $ AND $ LIMIT $",
	"insert into t values ($,$,now(),$),($,$,now(),$) /* c */ , ( $ )",
	"update t set a = a + $, b=$, c = - $ where d- $=$ # $",
	"call p($,f($),$,$,$,$,$,$) -- $",
	"select t.1, $ /*!40101 , $ */ case when $ then $ else $ end",
}

var values = []string{
	"1", "0", "12.5", ".5", "5.", "1e5", "1E-5", "0xFF", "0b101", "-1", "- 1", "+2", "-.5", "-0x1F", "- -3", "12345678901234567890", "x'41'", "B'01'", "N'a'",
	"'a'", "''", `'it''s'`, `'\''`, `"b"`, `'-- '`, "'/* '", "'#'", "'`'", "'(,'", `'"'`, `"'"`, "'?'", "'\x00\xff\n'", "-'1'",
}

// No value shows in a corrected digest.
func TestCorrectedHidesValues(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	var b Buffer
	fill := func(template string) string {
		var s strings.Builder
		for _, c := range template {
			if c == '$' {
				s.WriteString(values[r.IntN(len(values))])
			} else {
				s.WriteRune(c)
			}
		}
		return s.String()
	}
	for _, template := range templates {
		o := correctedOptions()
		want := string(Compute(&b, []byte(strings.ReplaceAll(template, "$", "1")), &o).Text)
		for range 2000 {
			line := strings.ReplaceAll(fill(template), "\n", " ") // A line end would end a comment.
			if got := Compute(&b, []byte(line), &o); string(got.Text) != want {
				t.Fatalf("%q\n got %q\nwant %q", line, got.Text, want)
			}
		}
	}
}
