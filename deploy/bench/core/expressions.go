package core

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// shapes are what most rules look like. The number makes them different.
var shapes = [...]string{
	"^SELECT .* FROM table_%05d WHERE ",
	"^INSERT INTO `?orders_%05d`? ",
	`^(SELECT|UPDATE|DELETE).*\bcustomers_%05d\b`,
	`JOIN dim_%05d(_\w+)? ON .* ORDER BY .* LIMIT \?`,
	`/\* ?shard=%d ?\*/`,
	"^UPDATE accounts_%05d SET .* WHERE ",
	`^DELETE FROM log_%05d WHERE created_at < \?`,
	`^(CALL|SELECT) proc_%05d\(`,
}

const (
	lockingRead = `^SELECT.*FOR UPDATE$`
	noLiteral   = `^\s*[a-z]+\s+[\d?]+\s*$`
)

// expressions makes n rules' expressions: the shapes in turn, a split for locking reads, one without any literal, and
// as the last one the first shape, whatever n is. All ignore case.
func expressions(n int) []string {
	list := make([]string, 0, n)
	for i := range n - 1 {
		switch i {
		case n / 3:
			list = append(list, lockingRead)
		case n / 2:
			list = append(list, noLiteral)
		default:
			list = append(list, fmt.Sprintf(shapes[i%len(shapes)], i))
		}
	}
	return append(list, fmt.Sprintf(shapes[0], n-1))
}

// digestTexts makes n digest texts of 100 to 300 bytes. Of expressions(rules) those with last match the last one alone,
// the others none. The length of a text does not depend on the number of rules.
func digestTexts(n, rules int, last bool) [][]byte {
	r := random(10)
	list := make([][]byte, 0, n)
	for len(list) < n {
		var b strings.Builder
		switch r.IntN(4) {
		case 0: // without a near miss
			fmt.Fprintf(&b, "SELECT %s", columnList(r))
		case 1:
			fmt.Fprintf(&b, "SELECT c.%s,f.%s,%s", pick(r, words), pick(r, words), columnList(r))
		case 2:
			fmt.Fprintf(&b, "SELECT %s,(SELECT COUNT(*) FROM tables t WHERE t.%s = ?)", columnList(r), pick(r, words))
		case 3:
			fmt.Fprintf(&b, "SELECT DISTINCT %s,customers.%s", columnList(r), pick(r, words))
		}
		if last {
			fmt.Fprintf(&b, " FROM table_%05d WHERE ", rules-1)
		} else {
			b.WriteString(" FROM orders_total WHERE ")
		}
		for b.Len() < 90 || r.IntN(3) > 0 {
			fmt.Fprintf(&b, "%s = ? AND ", pick(r, words))
		}
		fmt.Fprintf(&b, "%s IN (?,...) ORDER BY %s", pick(r, words), pick(r, words))
		if b.Len() <= 300 {
			list = append(list, []byte(b.String()))
		}
	}
	return list
}

func columnList(r *rand.Rand) string {
	names := make([]string, 1+r.IntN(8))
	for i := range names {
		names[i] = pick(r, words)
	}
	return strings.Join(names, ",")
}

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

// hostileTexts makes n distinct texts of 800 bytes out of some 40 pieces each that keep rules with .* alive.
func hostileTexts(n, rules int) [][]byte {
	r := random(11)
	pieces := []string{
		" FROM table_%05d WHER", " FROM table_%05d USING", " customers_%05d_archive", " JOIN dim_%05d_a USING", " JOIN dim_%05d ON a ORDER",
		" ORDER BY c%05d LIMIT", " accounts_%05d SET a", " /* shard=%d *", " FOR UPDATE OF a%05d", " SELECT a.%d FROM ta",
	}
	list := make([][]byte, 0, n)
	for range n {
		var b strings.Builder
		b.WriteString("SELECT")
		for b.Len() < 800 {
			fmt.Fprintf(&b, pieces[r.IntN(len(pieces))], r.IntN(rules))
		}
		list = append(list, []byte(b.String()[:800]))
	}
	return list
}
