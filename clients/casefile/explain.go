package casefile

import (
	"bytes"
	"strconv"

	"github.com/pointsman/pointsman/clients/facts"
	"github.com/pointsman/pointsman/decision"
)

// explainArguments gives the arguments with which pointsmanctl explain shows the statement's way. A configuration that
// stands in the case file itself has to be saved under its name first, a statement that can't be an argument as
// StatementFile. random tells that the session's random value matters.
func explainArguments(f *File, c *Case, q *decision.Question, random bool) []string {
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
	for _, text := range facts.AttributeTexts(s.ConnectAttrs) {
		add("--connect-attr", text)
	}
	if random {
		add("--random-value", strconv.FormatFloat(s.RandomValue, 'g', -1, 64))
	}
	for _, text := range facts.RouterTexts(s.Router) {
		add("--router", text)
	}
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
	if q.Seed != 0 {
		args = append(args, "--seed", strconv.FormatUint(q.Seed, 10))
	}
	switch text := q.Statement.Text; {
	case len(text) > maxArgument || bytes.IndexByte(text, 0) >= 0:
		return append(args, "--text-file", StatementFile)
	case bytes.HasPrefix(text, []byte("-")):
		return append(args, "--", string(text))
	default:
		return append(args, string(text))
	}
}

// StatementFile is the file that explain's arguments name when the statement itself can't be one of them.
const StatementFile = "statement.sql"

// maxArgument is the longest statement that is an argument; systems allow 128 KiB for one.
const maxArgument = 64 << 10
