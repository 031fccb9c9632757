package ctl

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"

	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// question is what flags say of the session and statement to decide.
type question struct {
	user, schema, clientAddr, proxyAddr, command string
	proxyPort                                    uint32
	flagIn, transaction, locked                  int32
	seed                                         uint64
	set                                          *pflag.FlagSet
}

func (q *question) flags(f *pflag.FlagSet) {
	q.set = f
	f.StringVar(&q.user, "user", "", "the session's MySQL user")
	f.StringVar(&q.schema, "schema", "", "the session's schema")
	f.StringVar(&q.clientAddr, "client-addr", "", "the client's address")
	f.StringVar(&q.proxyAddr, "proxy-addr", "", "the local address the client connected to")
	f.Uint32Var(&q.proxyPort, "proxy-port", 0, "the local port the client connected to")
	f.Int32Var(&q.flagIn, "flag-in", 0, "the flag that an earlier statement's next_query_flagIN stored")
	f.Int32Var(&q.transaction, "transaction-hostgroup", 0, "the hostgroup of the session's open transaction (none is open)")
	f.Int32Var(&q.locked, "locked-hostgroup", 0, "the hostgroup that the session is locked on (none)")
	f.Uint64Var(&q.seed, "seed", 0, "the seed that weighted flags are drawn by: the same seed gives the same flag (a new one each time)")
	f.StringVar(&q.command, "command", "query", "query, prepare or execute")
}

// request makes the API's request for a statement.
func (q *question) request(text []byte) (*decisionv1.RouteStatementRequest, error) {
	command, ok := decisionv1.Command_value["COMMAND_"+strings.ToUpper(q.command)]
	if !ok || command == 0 {
		return nil, fmt.Errorf("flag --command: %q is none of query, prepare, execute", q.command)
	}
	statement := &decisionv1.Statement{Body: &decisionv1.Statement_RawText{RawText: text}, Command: decisionv1.Command(command)}
	if utf8.Valid(text) {
		statement.Body = &decisionv1.Statement_Text{Text: string(text)}
	}
	var seed *uint64
	if q.set.Changed("seed") {
		seed = &q.seed
	}
	return &decisionv1.RouteStatementRequest{
		Seed: seed,
		Session: &decisionv1.Session{
			Username: q.user, Schemaname: q.schema, ClientAddr: q.clientAddr, ProxyAddr: q.proxyAddr, ProxyPort: q.proxyPort,
			NextQueryFlagIn:      q.given("flag-in", q.flagIn),
			TransactionHostgroup: q.given("transaction-hostgroup", q.transaction),
			LockedHostgroup:      q.given("locked-hostgroup", q.locked),
		},
		Statement: statement,
	}, nil
}

// given is nil for a flag that is not on the command line.
func (q *question) given(flag string, v int32) *int32 {
	if !q.set.Changed(flag) {
		return nil
	}
	return &v
}
