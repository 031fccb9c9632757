package session

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/gateway/mysql"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// refusal is an answer of generation 1: the guideline has no route.
func refusal(text string, req *decisionv1.RouteStatementRequest) *decisionv1.RouteStatementResponse {
	a := split(text, req)
	a.Generation, a.DestinationHostgroup, a.ErrorMsg = 1, nil, new("refused by generation 1")
	a.Reason, a.Guideline = decisionv1.Reason_REASON_GUIDELINE, &decisionv1.GuidelineChoice{Guideline: "zones"}
	return a
}

// ruled is an answer of generation 2, by a rule: its guideline does not look at the hostgroup.
func ruled(text string, req *decisionv1.RouteStatementRequest) *decisionv1.RouteStatementResponse {
	a := split(text, req)
	a.Generation = 2
	return a
}

// TestRefusalOutOfDate has a new configuration arrive together with a refusal by the old one: what the new one's rules say is
// done, not what is left when nobody can be asked.
func TestRefusalOutOfDate(t *testing.T) {
	open, shut := routes([3]string{"one", "TRUE", "near"}), routes([3]string{"one", "NOT TRUE", "near"})
	type effects = func(*decisionv1.RouteStatementResponse)
	for _, tt := range []struct {
		name    string
		after   string  // the new guideline; empty: there is none
		effects effects // of the new answer; nil: nobody answers any more
		lagging bool    // the service is still of generation 1 when it is asked again
		want    string  // the server, or what the answer says
		asked   int
	}{
		{"rule", "", func(*decisionv1.RouteStatementResponse) {}, false, "reader", 2},
		{"rule and route", open, func(a *decisionv1.RouteStatementResponse) {
			a.Guideline = &decisionv1.GuidelineChoice{Route: "one", Pools: []string{"read:one", "write:one"}}
		}, false, "reader", 2},
		{"rewritten", "", func(a *decisionv1.RouteStatementResponse) {
			a.RewrittenText, a.DestinationHostgroup = new("DO 1"), new(writer)
		}, false, "OK", 2},
		{"error_msg", "", func(a *decisionv1.RouteStatementResponse) { a.ErrorMsg = new("not here") }, false, "not here", 2},
		{"OK_msg", "", func(a *decisionv1.RouteStatementResponse) { a.OkMsg = new("done") }, false, "OK", 2},
		{"refused again", shut, func(a *decisionv1.RouteStatementResponse) {
			a.DestinationHostgroup, a.ErrorMsg, a.Guideline = nil, new("refused by generation 2"), &decisionv1.GuidelineChoice{}
		}, false, "refused by generation 2", 2},
		{"lagging", open, nil, true, "refused by generation 1", 2},
		{"service gone", "", nil, false, "writer", 1},
		{"service gone, route", open, nil, false, "writer", 1},
		{"service gone, no route", shut, nil, false, "no route of the routing guideline", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			servers := []*configv1.Server{
				tagged(server(writer, startFake(t, "writer").addr), "near"), tagged(server(reader, startFake(t, "reader").addr), "near"),
			}
			var g *testGateway
			next := &configv1.GuidelinePart{}
			if tt.after != "" {
				next = part(tt.after)
			}
			asked := 0
			answer := func(text string, req *decisionv1.RouteStatementRequest) *decisionv1.RouteStatementResponse {
				if asked++; asked == 1 {
					// The first is in force when the second is taken.
					for sequence := range uint64(2) {
						g.config <- &configv1.WatchGatewayConfigResponse{Generation: 2, Sequence: 2 + sequence, Guideline: next}
					}
					if tt.effects == nil && !tt.lagging {
						g.decider.failed = errors.New("down") // Route holds the lock
					}
				}
				if asked == 1 || tt.lagging {
					return refusal(text, req)
				}
				a := ruled(text, req)
				tt.effects(a)
				return a
			}
			g = startGateway(t, gatewayOptions{servers: servers, settings: never(), answer: answer, guideline: part(shut)})
			r := g.dial(t, "app", "shop")
			r.send(t, mysql.ComQuery, []byte(ask)...)
			got := "OK"
			switch p := r.read(t); p[0] {
			case 0:
			case 0xff:
				got = mysql.ParseError(p).Message
			default:
				for p = r.read(t); p[0] != 0xfe; p = r.read(t) { // the columns
				}
				got = string(r.readMoreRows(t)[0][1:])
			}
			if !strings.Contains(got, tt.want) {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if n := g.decider.count(); n != tt.asked {
				t.Errorf("asked %d times, want %d", n, tt.asked)
			}
		})
	}
}

// TestRefusalOutOfDateByTheDelay has the new configuration arrive during the delay that the refusal's rules demand.
func TestRefusalOutOfDateByTheDelay(t *testing.T) {
	shut := routes([3]string{"one", "NOT TRUE", "near"})
	const hour = 3_600_000
	for _, command := range []decisionv1.Command{decisionv1.Command_COMMAND_QUERY, decisionv1.Command_COMMAND_PREPARE} {
		t.Run(command.String(), func(t *testing.T) {
			g := startGateway(t, gatewayOptions{
				servers: []*configv1.Server{server(reader, startFake(t, "reader").addr)}, guideline: part(shut),
				answer: func(text string, req *decisionv1.RouteStatementRequest) *decisionv1.RouteStatementResponse {
					a := refusal(text, req)
					a.DelayMs, a.NextQueryFlagIn = proto.Uint32(1), new(int32(3))
					return a
				},
			})
			s := newSession(t, g)
			st := s.examine([]byte(ask))
			s.decide(t.Context(), &st, command)
			if st.at.refusal != "refused by generation 1" {
				t.Fatalf("refusal %q", st.at.refusal)
			}
			g.decider.mu.Lock()
			g.decider.answer = func(text string, req *decisionv1.RouteStatementRequest) *decisionv1.RouteStatementResponse {
				a := ruled(text, req)
				a.DelayMs, a.NextQueryFlagIn, a.RewrittenText = proto.Uint32(1), new(int32(5)), new("SELECT 2")
				if command == decisionv1.Command_COMMAND_PREPARE {
					a.OkMsg, a.DelayMs, a.NextQueryFlagIn = new("for the EXECUTE"), proto.Uint32(hour), nil
				}
				return a
			}
			g.decider.mu.Unlock()
			g.push(t, &configv1.WatchGatewayConfigResponse{Generation: 2, Sequence: 2, Guideline: &configv1.GuidelinePart{}})
			eventually(t, "generation 2", func() bool { return g.Snapshots.Current().Generation == 2 })
			if done, err := s.obey(t.Context(), &st); done || err != nil {
				t.Fatalf("done %v, %v", done, err)
			}
			at, err := s.destination(t.Context(), &st)
			if err != nil || at.hostgroup != reader || string(rewritten(st.answer)) != "SELECT 2" {
				t.Errorf("at %v, %v, %q", at, err, rewritten(st.answer))
			}
			q := g.decider.last(t, ask)
			if q.GetStatement().GetCommand() != command || q.GetSession().NextQueryFlagIn != nil {
				t.Errorf("asked again: %v", q)
			}
			if flag := s.route.NextQueryFlagIn; command == decisionv1.Command_COMMAND_QUERY && (flag == nil || *flag != 5) {
				t.Errorf("flag %v", flag)
			}
		})
	}
}
