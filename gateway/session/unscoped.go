package session

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/pointsman/pointsman/gateway/mysql"
)

// nextTransaction are variables that concern, when they are set as @@name, the next transaction only.
var nextTransaction = map[string]bool{
	"tx_isolation": true, "transaction_isolation": true, "tx_read_only": true, "transaction_read_only": true,
}

// learnUnscoped finds out what SET @@name has changed: MariaDB reports a variable only when it is set as
// SESSION name, @@session.name or just name. So each is set once more to the value that it has.
func (s *session) learnUnscoped(ctx context.Context, st *statement, b *backend, out *mysql.Outcome) {
	if st.prepare != nil || out.Err != nil || !b.tracked || !bytes.Contains(st.whole, []byte("@@")) {
		return
	}
	var again []string
	for _, name := range unscoped(string(st.whole)) {
		switch {
		case nextTransaction[name]:
			s.state.next = b
		case unrestorable[name], strings.HasPrefix(name, "session_track_"):
			s.observeVariable(b, name, "")
		case out.Track == nil || !slices.ContainsFunc(out.Track.Variables, func(v mysql.Variable) bool { return strings.EqualFold(v.Name, name) }):
			again = append(again, "SESSION "+name+"=@@session."+name)
		}
	}
	if len(again) == 0 {
		return
	}
	limited, cancel := context.WithTimeout(ctx, ownTimeout)
	defer cancel()
	told, err := b.Exec(limited, "SET "+strings.Join(again, ", "))
	if err == nil {
		s.observe(b, &told)
		return
	}
	s.pinTo(b, untrackedSet)
	if !isServerError(err) {
		_ = b.Conn.Close() // the next statement is told
	}
}

// unscoped gives the variables that SETs assign to as @@name, in lower case.
func unscoped(digest string) []string {
	var names []string
	for part := range strings.SplitSeq(digest, ";") { // no ; of a literal is in a digest
		if first, list := word(part); strings.EqualFold(first, "SET") {
			names = append(names, unscopedTargets(list)...)
		}
	}
	return names
}

// unscopedTargets looks at each assignment of a SET, which are parted by commas outside of parentheses.
func unscopedTargets(list string) []string {
	var names []string
	depth, begin := 0, 0
	for i := 0; i <= len(list); i++ {
		switch {
		case i == len(list), list[i] == ',' && depth == 0:
			if name := unscopedTarget(list[begin:i]); name != "" {
				names = append(names, name)
			}
			begin = i + 1
		case list[i] == '(':
			depth++
		case list[i] == ')':
			depth--
		}
	}
	return names
}

// unscopedTarget gives the name in @@name = value, empty for other assignments.
func unscopedTarget(assignment string) string {
	target, _, ok := strings.Cut(assignment, "=")
	name, isVariable := strings.CutPrefix(strings.TrimLeft(target, " "), "@@")
	if !ok || !isVariable {
		return ""
	}
	name = strings.Trim(strings.TrimSuffix(strings.TrimRight(name, " "), ":"), " `")
	for _, c := range []byte(name) {
		if c != '_' && (c < '0' || c > '9') && (upper(c) < 'A' || upper(c) > 'Z') {
			return "" // a scope before a point, or nothing that a variable is called
		}
	}
	return strings.ToLower(name)
}
