package casefile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pointsman/pointsman/clients/facts"
	"github.com/pointsman/pointsman/decision"
)

// setting is a line that changes the session, or how statements are sent.
type setting struct {
	line  int
	apply func(*decision.Question)
}

// sessionFields are the fields that describe the session, and what else a question holds besides its text.
var sessionFields = map[string]func(value string) (s setting, mistake string){
	"user":         textField(func(q *decision.Question, v string) { q.Session.Username = v }),
	"schema":       textField(func(q *decision.Question, v string) { q.Session.Schemaname = v }),
	"client_addr":  textField(func(q *decision.Question, v string) { q.Session.ClientAddr = v }),
	"proxy_addr":   textField(func(q *decision.Question, v string) { q.Session.ProxyAddr = v }),
	"proxy_port":   numberField(65535, 0, func(q *decision.Question, n int64) { q.Session.ProxyPort = uint32(n) }),
	"connect_attr": factField(addAttribute),
	"random_value": randomField,
	"router":       factField(addRouter),
	"flag_in":      flagField(func(q *decision.Question, n int64) { q.Session.NextQueryFlagIn = int32(n) }),
	"transaction_hostgroup": flagField(func(q *decision.Question, n int64) {
		q.Session.TransactionHostgroup = int32(n)
	}),
	"locked_hostgroup": flagField(func(q *decision.Question, n int64) { q.Session.LockedHostgroup = int32(n) }),
	"command":          commandField,
	"seed":             numberField(1<<63-1, 0, func(q *decision.Question, n int64) { q.Seed = uint64(n) }),
	"now_ms":           numberField(1<<63-1, 0, func(q *decision.Question, n int64) { q.NowMS = n }),
}

// sessionNames lists the fields for messages, the usual ones first.
func sessionNames() string {
	return strings.Join([]string{
		"user", "schema", "client_addr", "proxy_addr", "proxy_port", "connect_attr", "random_value", "router", "flag_in",
		"transaction_hostgroup", "locked_hostgroup", "command", "seed", "now_ms",
	}, ", ")
}

func textField(to func(*decision.Question, string)) func(string) (setting, string) {
	return func(value string) (setting, string) {
		switch value {
		case Unset:
			value = ""
		case quotedUnset:
			value = Unset
		}
		return setting{apply: func(q *decision.Question) { to(q, value) }}, ""
	}
}

// numberField is a number from 0 to high; Unset stands for none.
func numberField(high, none int64, to func(*decision.Question, int64)) func(string) (setting, string) {
	return func(value string) (setting, string) {
		n, err := strconv.ParseInt(value, 10, 64)
		if value == Unset {
			n = none
		} else if err != nil || n < 0 || n > high {
			return setting{}, fmt.Sprintf("%q is no number from 0 to %d, nor %s", value, high, Unset)
		}
		return setting{apply: func(q *decision.Question) { to(q, n) }}, ""
	}
}

// flagField is a flag or a hostgroup.
func flagField(to func(*decision.Question, int64)) func(string) (setting, string) {
	return numberField(1<<31-1, int64(decision.None), to)
}

func commandField(value string) (setting, string) {
	commands := map[string]decision.Command{
		"query": decision.Query, "prepare": decision.Prepare, "execute": decision.Execute, Unset: decision.Query,
	}
	command, ok := commands[value]
	if !ok {
		return setting{}, fmt.Sprintf("%q is none of query, prepare, execute", value)
	}
	return setting{apply: func(q *decision.Question) { q.Statement.Command = command }}, ""
}

func randomField(value string) (setting, string) {
	n, err := strconv.ParseFloat(value, 64)
	if value == Unset {
		n = 0
	} else if err != nil || !(n >= 0 && n < 1) {
		return setting{}, fmt.Sprintf("%q is no number from 0 to below 1, nor %s", value, Unset)
	}
	return setting{apply: func(q *decision.Question) { q.Session.RandomValue = n }}, ""
}

// factField is one NAME=VALUE of several; Unset takes all of them back.
func factField(add func(*decision.Session, string) error) func(string) (setting, string) {
	return func(value string) (setting, string) {
		if value == Unset {
			value = ""
		} else if err := add(&decision.Session{}, value); err != nil {
			return setting{}, err.Error()
		}
		return setting{apply: func(q *decision.Question) {
			_ = add(&q.Session, value) // it was tried
		}}, ""
	}
}

// addAttribute adds a connection attribute. An empty text removes all of them.
func addAttribute(s *decision.Session, text string) error {
	if text == "" {
		s.ConnectAttrs = nil
		return nil
	}
	attributes, err := facts.Attributes(append(facts.AttributeTexts(s.ConnectAttrs), text))
	if err == nil {
		s.ConnectAttrs = attributes
	}
	return err
}

// addRouter adds a fact of the gateway. An empty text removes all of them.
func addRouter(s *decision.Session, text string) error {
	if text == "" {
		s.Router = nil
		return nil
	}
	router, err := facts.Router(append(facts.RouterTexts(s.Router), text))
	if err == nil {
		s.Router = router
	}
	return err
}
