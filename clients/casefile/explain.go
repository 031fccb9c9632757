package casefile

import (
	"strconv"

	"github.com/pointsman/pointsman/decision"
)

// explainArguments gives the arguments with which pointsmanctl explain shows the statement's way. A configuration that
// stands in the case file itself has to be saved under its name first.
func explainArguments(f *File, c *Case, q *decision.Question) []string {
	config := c.config
	if _, inline := f.inline[config]; !inline {
		config = configPath(f, config)
	}
	args := []string{"--config", config}
	add := func(flag, value string) {
		if value != "" {
			args = append(args, flag, value)
		}
	}
	number := func(flag string, n, none int64) {
		if n != none {
			args = append(args, flag, strconv.FormatInt(n, 10))
		}
	}
	s := &q.Session
	add("--user", s.Username)
	add("--schema", s.Schemaname)
	add("--client-addr", s.ClientAddr)
	add("--proxy-addr", s.ProxyAddr)
	number("--proxy-port", int64(s.ProxyPort), 0)
	number("--flag-in", int64(s.NextQueryFlagIn), int64(decision.None))
	number("--transaction-hostgroup", int64(s.TransactionHostgroup), int64(decision.None))
	number("--locked-hostgroup", int64(s.LockedHostgroup), int64(decision.None))
	switch q.Statement.Command {
	case decision.Prepare:
		add("--command", "prepare")
	case decision.Execute:
		add("--command", "execute")
	case decision.Query:
	}
	return append(args, string(q.Statement.Text))
}
