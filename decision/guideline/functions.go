package guideline

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// function is one of the language's functions (spec 4.9).
type function struct {
	name      string
	params    []Type
	variadic  bool // any number of arguments of any type, at least one
	result    Type
	unfolded  bool // never computed while parsing; its failures name no place
	takesNull bool // NULL is an argument like others; elsewhere it makes the result NULL
	resolves  bool // looks up a host
	v6        bool
	check     func(p *parser, n *node) string // what else is asked of the arguments while parsing
	call      func(w *walker, n *node, args []datum) (datum, string)
}

// functions by their names in small letters.
var functions = byName([]function{
	{name: "SQRT", params: []Type{Number}, result: Number, call: callSqrt},
	{name: "NUMBER", params: []Type{String}, result: Number, call: callNumber},
	{name: "IS_IPV4", params: []Type{String}, result: Boolean, call: oneText(isIPv4)},
	{name: "IS_IPV6", params: []Type{String}, result: Boolean, call: oneText(isIPv6)},
	{name: "REGEXP_LIKE", params: []Type{String, String}, result: Boolean, check: checkRegexpLike, call: callRegexpLike},
	{name: "SUBSTRING_INDEX", params: []Type{String, String, Number}, result: String, call: callSubstringIndex},
	{name: "STARTSWITH", params: []Type{String, String}, result: Boolean, call: twoTexts(hasPrefixFold)},
	{name: "ENDSWITH", params: []Type{String, String}, result: Boolean, call: twoTexts(hasSuffixFold)},
	{name: "CONTAINS", params: []Type{String, String}, result: Boolean, call: twoTexts(containsFold)},
	{name: "CONCAT", variadic: true, result: String, unfolded: true, call: callConcat},
	{name: "NETWORK", params: []Type{String, Number}, result: String, unfolded: true, takesNull: true, check: checkNetwork, call: callNetwork},
	{name: "RESOLVE_V4", params: []Type{String}, result: String, unfolded: true, resolves: true, check: checkResolve, call: callResolve},
	{name: "RESOLVE_V6", params: []Type{String}, result: String, unfolded: true, resolves: true, v6: true, check: checkResolve, call: callResolve},
})

func byName(all []function) map[string]*function {
	named := make(map[string]*function, len(all))
	for i := range all {
		named[strings.ToLower(all[i].name)] = &all[i]
	}
	return named
}

func oneText(test func(string) bool) func(*walker, *node, []datum) (datum, string) {
	return func(_ *walker, _ *node, args []datum) (datum, string) {
		return booleanDatum(test(args[0].Text)), ""
	}
}

func twoTexts(test func(text, part string) bool) func(*walker, *node, []datum) (datum, string) {
	return func(_ *walker, _ *node, args []datum) (datum, string) {
		return booleanDatum(test(args[0].Text, args[1].Text)), ""
	}
}

func containsFold(text, part string) bool { return indexFold(text, part) >= 0 }

func callSqrt(_ *walker, _ *node, args []datum) (datum, string) {
	return numberDatum(math.Sqrt(args[0].Number)), ""
}

func callNumber(_ *walker, _ *node, args []datum) (datum, string) {
	number, ok := toNumber(args[0].Text)
	if !ok {
		return datum{}, "NUMBER function, unable to convert '" + args[0].Text + "' to number"
	}
	return numberDatum(number), ""
}

// toNumber reads a text that is as a whole what C's strtod takes for a number. The empty text is 0.
func toNumber(text string) (float64, bool) {
	if text == "" {
		return 0, true
	}
	for text != "" && isBlank(text[0]) {
		text = text[1:]
	}
	sign := 1.0
	if text != "" && (text[0] == '-' || text[0] == '+') {
		if text[0] == '-' {
			sign = -1
		}
		text = text[1:]
	}
	switch {
	case text == "":
		return 0, false
	case equalFold(text, "inf") || equalFold(text, "infinity"):
		return math.Inf(int(sign)), true
	case isNaNText(text):
		return math.NaN(), true
	case numberPrefix(text) != len(text):
		return 0, false
	}
	return sign * parseNumber(text), true
}

// isNaNText tells "nan" and "nan(...)" with letters, digits and underscores inside.
func isNaNText(text string) bool {
	if !hasPrefixFold(text, "nan") {
		return false
	}
	payload := text[len("nan"):]
	if payload == "" {
		return true
	}
	if len(payload) < 2 || payload[0] != '(' || payload[len(payload)-1] != ')' {
		return false
	}
	for _, c := range []byte(payload[1 : len(payload)-1]) {
		if !isWordByte(c) {
			return false
		}
	}
	return true
}

func callSubstringIndex(_ *walker, _ *node, args []datum) (datum, string) {
	return textDatum(substringIndex(args[0].Text, args[1].Text, args[2].Number)), ""
}

// substringIndex gives what stands before the count-th delimiter, or after the -count-th from the right; the whole text when
// there are fewer. Fractions of a count don't count.
func substringIndex(text, delimiter string, count float64) string {
	if delimiter == "" || math.IsNaN(count) {
		return ""
	}
	count = math.Trunc(count)
	if count == 0 {
		return ""
	}
	end, start := 0, len(text)
	for ; count > 0; count-- {
		i := strings.Index(text[end:], delimiter)
		switch {
		case i < 0:
			return text
		case count == 1:
			return text[:end+i]
		}
		end += i + len(delimiter)
	}
	for ; count < 0; count++ {
		i := strings.LastIndex(text[:start], delimiter)
		switch {
		case i < 0:
			return text
		case count == -1:
			return text[i+len(delimiter):]
		}
		start = i
	}
	return text
}

func callConcat(_ *walker, _ *node, args []datum) (datum, string) {
	var out strings.Builder
	for i := range args {
		if out.Len()+len(args[i].Text) > maxConcatBytes {
			return datum{}, fmt.Sprintf("CONCAT function, the result has more than %d bytes", maxConcatBytes)
		}
		switch d := &args[i]; d.Type {
		case Number:
			out.WriteString(printNumber(d.Number))
		case Boolean:
			out.WriteByte("01"[b2i(d.Bool)])
		case String, RoleType:
			out.WriteString(d.Text)
		case Null:
		}
	}
	return textDatum(out.String()), ""
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// printNumber prints as C++ streams do: six significant digits.
func printNumber(n float64) string {
	switch {
	case math.IsNaN(n):
		return "nan"
	case math.IsInf(n, 1):
		return "inf"
	case math.IsInf(n, -1):
		return "-inf"
	}
	return strconv.FormatFloat(n, 'g', 6, 64)
}

func checkNetwork(_ *parser, n *node) string {
	if !n.args[1].isConstant() {
		return "NETWORK function only accepts number literals as its second parameter"
	}
	return ""
}

func callNetwork(w *walker, _ *node, args []datum) (datum, string) {
	bits := math.Trunc(args[1].Number)
	valid := bits >= 1 && bits <= 32
	if w.dry {
		text := strconv.FormatFloat(bits, 'f', -1, 64)
		if !valid {
			return datum{}, "NETWORK function invalid netmask value: " + text
		}
		return textDatum(text), ""
	}
	if args[0].Type != String {
		return datum{}, "Type error, expected string"
	}
	address, ok := parseIPv4(args[0].Text)
	switch {
	case !ok:
		return datum{}, "Network function called on invalid IPv4 address: '" + args[0].Text + "'"
	case !valid:
		return datum{}, "Valid mask length for IPv4 address is between 1 and 32"
	}
	return textDatum(printIPv4(address & netmask(int(bits)))), ""
}

func checkResolve(_ *parser, n *node) string {
	name := n.args[0]
	if !name.isConstant() {
		return n.function.name + " function only accepts string literals as its parameter"
	}
	if !isHostName(name.constant.Text) {
		return fmt.Sprintf("%s function, invalid hostname: '%s'", n.function.name, name.constant.Text)
	}
	name.constant.Text = lowered(name.constant.Text)
	return ""
}

func callResolve(w *walker, n *node, args []datum) (datum, string) {
	host := args[0].Text
	if w.dry {
		return textDatum(host), ""
	}
	address, found := w.facts.Names[Host{host, n.function.v6}]
	if !found {
		return datum{}, "No cache entry to resolve host: " + host
	}
	return textDatum(address), ""
}

// regexpOverhead is what a compiled regular expression of any size takes, in parts.
const regexpOverhead = 16

const invalidRegexp = "REGEXP_LIKE function invalid regular expression: "

func checkRegexpLike(p *parser, n *node) string {
	if !n.args[1].isConstant() {
		return ""
	}
	re, err := compileRegexp(n.args[1].constant.Text, maxRegexpSize)
	if err != nil {
		return invalidRegexp + err.Error()
	}
	n.regexp = re
	p.parts += re.size + regexpOverhead
	return ""
}

func callRegexpLike(_ *walker, n *node, args []datum) (datum, string) {
	re := n.regexp
	if re == nil {
		var err error
		if re, err = compileRegexp(args[1].Text, maxVariablePattern); err != nil {
			return datum{}, invalidRegexp + err.Error()
		}
	}
	text := args[0].Text
	if tooCostly(text, re.size) {
		return datum{}, "REGEXP_LIKE function, " + costText(text, re.size)
	}
	return booleanDatum(re.MatchString(text)), ""
}

// tooCostly tells whether it would take too long to hold a text against a pattern of so many parts.
func tooCostly(text string, parts int) bool { return parts > 0 && len(text) > maxMatchCost/parts }

func costText(text string, parts int) string {
	return fmt.Sprintf("the pattern has %d parts and the text %d bytes: their product is above %d", parts, len(text), maxMatchCost)
}
