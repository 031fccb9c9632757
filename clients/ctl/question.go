package ctl

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/pointsman/pointsman/clients/facts"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// question is what flags say of the session and statement to decide.
type question struct {
	user, schema, clientAddr, proxyAddr, command string
	proxyPort                                    uint32
	flagIn, transaction, locked                  int32
	seed                                         uint64
	connectAttrs                                 []string
	randomValue                                  float64
	router                                       routerFacts
	set                                          *pflag.FlagSet
}

func (q *question) flags(f *pflag.FlagSet) {
	q.sessionFlags(f)
	f.Int32Var(&q.flagIn, "flag-in", 0, "the flag that an earlier statement's next_query_flagIN stored")
	f.Int32Var(&q.transaction, "transaction-hostgroup", 0, "the hostgroup of the session's open transaction (none is open)")
	f.Int32Var(&q.locked, "locked-hostgroup", 0, "the hostgroup that the session is locked on (none)")
	f.Uint64Var(&q.seed, "seed", 0, "the seed that weighted flags are drawn by: the same seed gives the same flag (a new one each time)")
	f.StringVar(&q.command, "command", "query", "query, prepare or execute")
}

// sessionFlags are those that say who the session is.
func (q *question) sessionFlags(f *pflag.FlagSet) {
	q.set = f
	f.StringVar(&q.user, "user", "", "the session's MySQL user")
	f.StringVar(&q.schema, "schema", "", "the session's schema")
	f.StringVar(&q.clientAddr, "client-addr", "", "the client's address")
	f.StringVar(&q.proxyAddr, "proxy-addr", "", "the local address the client connected to")
	f.Uint32Var(&q.proxyPort, "proxy-port", 0, "the local port the client connected to")
	f.StringArrayVar(&q.connectAttrs, "connect-attr", nil, "a connection attribute of the client, for example program_name=batch; repeat it for more")
	f.Float64Var(&q.randomValue, "random-value", 0, "the session's number in [0,1), which guidelines see as $.session.randomValue (a new one each time)")
	q.router.flags(f)
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
	session, err := q.session()
	if err != nil {
		return nil, err
	}
	return &decisionv1.RouteStatementRequest{Seed: seed, Session: session, Statement: statement}, nil
}

// session makes the API's form of a session.
func (q *question) session() (*decisionv1.Session, error) {
	attributes, err := facts.Attributes(q.connectAttrs)
	if err != nil {
		return nil, fmt.Errorf("flag --connect-attr: %w", err)
	}
	router, err := q.router.message()
	if err != nil {
		return nil, err
	}
	if q.proxyPort > math.MaxUint16 {
		return nil, fmt.Errorf("flag --proxy-port: %d is not within 0..%d", q.proxyPort, math.MaxUint16)
	}
	var random *float64
	if q.set.Changed("random-value") {
		if q.randomValue < 0 || q.randomValue >= 1 || q.randomValue != q.randomValue {
			return nil, fmt.Errorf("flag --random-value: %v is not in [0,1)", q.randomValue)
		}
		random = &q.randomValue
	}
	return &decisionv1.Session{
		Username: q.user, Schemaname: q.schema, ClientAddr: q.clientAddr, ProxyAddr: q.proxyAddr, ProxyPort: q.proxyPort,
		ConnectAttrs: attributes, RandomValue: random, Router: router,
		NextQueryFlagIn:      q.given("flag-in", q.flagIn),
		TransactionHostgroup: q.given("transaction-hostgroup", q.transaction),
		LockedHostgroup:      q.given("locked-hostgroup", q.locked),
	}, nil
}

// wantUser refuses flags that say something of a session when none says whose it is.
func (q *question) wantUser() error {
	if q.user != "" {
		return nil
	}
	for _, name := range []string{"schema", "client-addr", "proxy-addr", "proxy-port", "connect-attr", "random-value"} {
		if q.set.Changed(name) {
			return fmt.Errorf("flag --%s tells of a session, and without --user there is none; give --user, too", name)
		}
	}
	return nil
}

// given is nil for a flag that is not on the command line.
func (q *question) given(flag string, v int32) *int32 {
	if !q.set.Changed(flag) {
		return nil
	}
	return &v
}
