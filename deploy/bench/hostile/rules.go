package hostile

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"google.golang.org/protobuf/proto"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

const (
	ruleCount = 10_000
	username  = "app"

	writers, readers = 10, 20 // hostgroups
)

// expression makes the hostile expression number i. In turns: many .* that stay alive, nested quantifiers, large counts,
// long alternations. Twenty have back-references or look around: each of them is tried on every statement, which ordinary
// callers pay for in any case.
func expression(i int) string {
	switch i % 1000 {
	case 333:
		return fmt.Sprintf(`'(\w+)'.*'\1'.*%d$`, i)
	case 666:
		return fmt.Sprintf(`^(?=.*a%d)(?!.*b%d).*c`, i, i)
	}
	switch i % 8 {
	case 0:
		return fmt.Sprintf(`^SELECT .* FROM t%d .* WHERE .* AND .* OR z%d`, i, i)
	case 1:
		return fmt.Sprintf(`(a|aa|aaa)+b%d$`, i)
	case 2:
		return fmt.Sprintf(`(\w+\s*)+;%d$`, i)
	case 3:
		return fmt.Sprintf(`x.{%d}y%d`, 50+i%150, i)
	case 4:
		return fmt.Sprintf(`(.{0,%d},){4}z%d`, 10+i%30, i)
	case 5:
		return fmt.Sprintf(`(a|b)*a(a|b){%d}c%d`, 5+i%10, i)
	case 6:
		names := make([]string, 40)
		for k := range names {
			names[k] = fmt.Sprintf("name_%d_%d", i%97, k)
		}
		return fmt.Sprintf(`JOIN (%s)[^;]*;%d`, strings.Join(names, "|"), i)
	}
	return fmt.Sprintf(`[\w\s,.]+q%d`, i)
}

// config has the hostile rules, two in three of them on the digest text and the others on the raw text, and behind them
// the usual split.
func config() *configv1.Config {
	cfg := &configv1.Config{
		Servers: []*configv1.Server{{HostgroupId: writers, Hostname: "writer"}, {HostgroupId: readers, Hostname: "reader"}},
		Users:   []*configv1.User{{Username: username, Password: new("secret"), DefaultHostgroup: writers}},
	}
	for i := range ruleCount {
		rule := &configv1.QueryRule{RuleId: int64(i + 1), DestinationHostgroup: proto.Int64(writers), Apply: true}
		if i%3 == 2 {
			rule.MatchPattern = new(expression(i))
		} else {
			rule.MatchDigest = new(expression(i))
		}
		cfg.QueryRules = append(cfg.QueryRules, rule)
	}
	cfg.QueryRules = append(cfg.QueryRules,
		&configv1.QueryRule{RuleId: ruleCount + 1, MatchDigest: new("^SELECT"), DestinationHostgroup: proto.Int64(readers), Apply: true})
	return cfg
}

// statements makes hostile statements of size bytes, each in another way.
func statements(size int) [][]byte {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // every run shall measure the same
	pieces := []func() string{
		func() string {
			return fmt.Sprintf(" FROM t%d x WHERE AND OR name_%d_%d", r.IntN(ruleCount), r.IntN(97), r.IntN(40))
		},
		func() string { return strings.Repeat("a", 1+r.IntN(20)) + string(rune('a'+r.IntN(2))) },
		func() string { return fmt.Sprintf("w%d ", r.IntN(1000)) },
		func() string { return strings.Repeat(",", 1+r.IntN(30)) + "x" },
		func() string { return fmt.Sprintf("(%d, 'text %d', NULL),", r.IntN(1000), r.IntN(1000)) },
		func() string { return string(rune(32 + r.IntN(95))) },
	}
	list := make([][]byte, 0, len(pieces)+1)
	for _, piece := range pieces {
		list = append(list, statement(size, piece))
	}
	return append(list, statement(size, func() string { return pieces[r.IntN(len(pieces))]() }))
}

func statement(size int, piece func() string) []byte {
	var b strings.Builder
	b.Grow(size + 100)
	b.WriteString("SELECT ")
	for b.Len() < size {
		b.WriteString(piece())
	}
	return []byte(b.String()[:size])
}
