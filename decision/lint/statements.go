package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pointsman/pointsman/decision"
)

// Typical statements. Where they go tells what a configuration makes of their kind.
const sampleRead = "SELECT c FROM t WHERE id = 1"

var (
	sampleWrites = []string{"INSERT INTO t (c) VALUES (1)", "UPDATE t SET c = 1 WHERE id = 1", "DELETE FROM t WHERE id = 1"}
	sampleLocks  = []string{
		sampleRead + " FOR UPDATE", sampleRead + " FOR UPDATE NOWAIT", sampleRead + " FOR UPDATE SKIP LOCKED",
		sampleRead + " FOR SHARE", sampleRead + " LOCK IN SHARE MODE",
		"(" + sampleRead + " FOR UPDATE)", "((" + sampleRead + " FOR UPDATE))", "WITH x AS (SELECT 1) SELECT c FROM t JOIN x FOR UPDATE",
	}
	sampleReads  = []string{"(" + sampleRead + ")", "WITH x AS (SELECT 1) SELECT * FROM x"}
	sampleBegins = []string{"BEGIN", "START TRANSACTION"}
)

// sampleAddr is the client of the typical statements, from a block that nobody uses: rules for certain clients don't
// match it.
const sampleAddr = "192.0.2.1"

// maxSessions is the most kinds of session that are tried.
const maxSessions = 64

// statements looks at splits: sessions whose reads go elsewhere than their writes.
func (l *linter) statements() {
	said := make(map[string]bool)
	for _, s := range l.sessions() {
		t := &trial{l: l, session: s, said: said}
		t.run()
	}
}

// sessions gives one session of each kind that rules can tell apart by user and schema.
func (l *linter) sessions() (out []decision.Session) {
	named := make(map[string]bool) // users and, with a NUL before them, schemas of rules
	var schemas []string
	for _, r := range l.rules {
		named[r.row.Username] = true
		if s := r.row.Schemaname; s != "" && !named["\x00"+s] {
			named["\x00"+s] = true
			schemas = append(schemas, s)
		}
	}
	type class struct {
		user      string
		hostgroup int32
	}
	seen := make(map[class]bool)
	var users []string
	for i := range l.cfg.Users {
		u := &l.cfg.Users[i]
		if l.users[u.Username] != u || u.FastForward {
			continue
		}
		c := class{hostgroup: u.DefaultHostgroup}
		if named[u.Username] {
			c.user = u.Username
		}
		if !seen[c] {
			seen[c] = true
			users = append(users, u.Username)
		}
	}
	for _, schema := range append([]string{""}, schemas...) {
		for _, user := range users {
			if len(out) == maxSessions {
				return out
			}
			out = append(out, decision.Session{
				Username: user, Schemaname: schema, ClientAddr: sampleAddr,
				NextQueryFlagIn: decision.None, TransactionHostgroup: decision.None, LockedHostgroup: decision.None, KeptRoute: decision.None,
			})
		}
	}
	return out
}

// trial sends typical statements of one session.
type trial struct {
	l       *linter
	session decision.Session
	said    map[string]bool // code and place of what is reported

	answer decision.Answer
}

// way is where a statement goes and by which rule.
type way struct {
	hostgroup int32
	rule      *rule // that gave the destination; nil: none did
}

func (t *trial) run() {
	read, ok := t.route(sampleRead)
	if !ok || read.rule == nil && t.answer.Reason != decision.ReasonDefaultHostgroup {
		return
	}
	writes := decision.None
	for _, sql := range sampleWrites {
		w, ok := t.route(sql)
		if !ok || writes != decision.None && w.hostgroup != writes {
			return // there is no one place for writes
		}
		writes = w.hostgroup
	}
	if writes == read.hostgroup {
		return
	}
	who := "user " + t.session.Username
	if t.session.Schemaname != "" {
		who += " in schema " + t.session.Schemaname
	}

	t.report(codeLockingRead, Warning, t.going(sampleLocks, func(w way) bool { return w.hostgroup == read.hostgroup }),
		fmt.Sprintf("of %s: %%s goes to hostgroup %d, where reads go, while writes go to hostgroup %d: the rows are not locked where they are changed", who, read.hostgroup, writes),
		fmt.Sprintf(`Put a rule with a lower number and apply before it: match_digest '^\(*(SELECT|WITH)\b.*\b(FOR UPDATE|FOR SHARE|LOCK IN SHARE MODE)\b', destination_hostgroup %d.`, writes))
	t.report(codeBeginElsewhere, Hint, t.going(sampleBegins, func(w way) bool { return w.hostgroup != writes }),
		fmt.Sprintf("of %s: %%s does not go to hostgroup %d, where writes go: with transaction_persistent the whole transaction stays where it begins, its writes as well", who, writes),
		fmt.Sprintf(`Put a rule with a lower number and apply before it: match_digest '^(BEGIN|START TRANSACTION)\b', destination_hostgroup %d.`, writes))
	missed := t.going(sampleReads, func(w way) bool { return w.hostgroup == writes })
	for i := range missed {
		missed[i].rule = read.rule // the rule that should catch it
	}
	t.report(codeReadsMissed, Hint, missed,
		fmt.Sprintf("of %s: %%s goes to hostgroup %d, where writes go, while plain reads go to hostgroup %d", who, writes, read.hostgroup),
		`If these reads are to be split as well, let the expression begin with ^\(*(SELECT|WITH)\b, behind the rule for locking reads; a WITH may also begin an UPDATE or DELETE.`)
}

// maxExamples is the most statements that a finding names.
const maxExamples = 2

// sent is a typical statement and where it goes.
type sent struct {
	way
	sql string
}

// going gives the statements whose way is one of those looked for.
func (t *trial) going(statements []string, is func(way) bool) (out []sent) {
	for _, sql := range statements {
		if w, ok := t.route(sql); ok && is(w) {
			out = append(out, sent{w, sql})
		}
	}
	return out
}

// report makes one finding for each place that sends some of the statements away. What was said of a place is not
// said of it again for another session.
func (t *trial) report(code string, severity Severity, list []sent, message, remedy string) {
	var order []string
	texts := make(map[string][]string)
	first := make(map[string]sent)
	for _, s := range list {
		key := fmt.Sprintf("%s of %s", code, t.session.Username)
		if s.rule != nil {
			key = fmt.Sprintf("%s by %d", code, s.rule.row.RuleID)
		}
		if len(texts[key]) == 0 {
			order = append(order, key)
			first[key] = s
		}
		texts[key] = append(texts[key], s.sql)
	}
	for _, key := range order {
		if t.said[key] {
			continue
		}
		t.said[key] = true
		some := texts[key]
		examples := strings.Join(some[:min(len(some), maxExamples)], "; ")
		if more := len(some) - maxExamples; more > 0 {
			examples += fmt.Sprintf(" (and %d more forms)", more)
		}
		text := fmt.Sprintf(message, examples)
		if r := first[key].rule; r != nil {
			field := "destination_hostgroup"
			if r.row.MatchDigest != nil {
				field = "match_digest"
			}
			t.l.found(listRules, r.index, field, code, severity, text, remedy)
			continue
		}
		for i := range t.l.cfg.Users {
			if u := &t.l.cfg.Users[i]; u == t.l.users[t.session.Username] {
				t.l.found(listUsers, i, "default_hostgroup", code, severity, text, remedy)
			}
		}
	}
}

// route sends one statement. It is not ok when the statement goes nowhere.
func (t *trial) route(sql string) (way, bool) {
	q := decision.Question{Session: t.session, Statement: decision.Statement{Text: []byte(sql), HasText: true}}
	if err := t.l.g.Route(&q, &t.answer); err != nil || t.answer.Reason == decision.ReasonAnswered {
		return way{}, false
	}
	w := way{hostgroup: t.answer.DestinationHostgroup}
	if t.answer.Reason != decision.ReasonRule {
		return w, true
	}
	for _, id := range slices.Backward(t.answer.MatchedRules) {
		if r := t.l.byID[int64(id)]; r != nil && r.hasDestination() {
			w.rule = r
			break
		}
	}
	return w, true
}
