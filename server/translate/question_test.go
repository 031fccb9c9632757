package translate_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/guideline"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/translate"
)

func TestQuestionFromProto(t *testing.T) {
	none := decision.Session{Username: "app", NextQueryFlagIn: decision.None, TransactionHostgroup: decision.None, LockedHostgroup: decision.None, KeptRoute: decision.None}
	tests := map[string]struct {
		req  *decisionv1.RouteStatementRequest
		want decision.Question
	}{
		"text": {
			&decisionv1.RouteStatementRequest{
				Session:   &decisionv1.Session{Username: "app"},
				Statement: &decisionv1.Statement{Body: &decisionv1.Statement_Text{Text: "SELECT 1"}},
			},
			decision.Question{Session: none, Statement: decision.Statement{Text: []byte("SELECT 1"), HasText: true}},
		},
		"an empty text is a text": {
			&decisionv1.RouteStatementRequest{
				Session:   &decisionv1.Session{Username: "app"},
				Statement: &decisionv1.Statement{Body: &decisionv1.Statement_Text{}, Command: decisionv1.Command_COMMAND_QUERY},
			},
			decision.Question{Session: none, Statement: decision.Statement{HasText: true}},
		},
		"everything": {
			&decisionv1.RouteStatementRequest{
				Session: &decisionv1.Session{
					Username: "app", Schemaname: "shop", ClientAddr: "10.0.0.1", ClientPort: 65535, ProxyAddr: "127.0.0.1", ProxyPort: 6033,
					NextQueryFlagIn: proto.Int32(0), TransactionHostgroup: proto.Int32(1), LockedHostgroup: proto.Int32(2), RandomValue: new(0.25),
					ConnectAttrs: map[string]string{"program_name": "mysql"},
					Router: &decisionv1.Router{
						Name: "n", Hostname: "h", LocalCluster: "c", Tags: map[string]string{"k": "1"}, RouteName: "rw", BindAddress: "0.0.0.0",
						PortRw: 6446, PortRo: 6447, PortRwSplit: 6450,
					},
				},
				Statement: &decisionv1.Statement{Body: &decisionv1.Statement_RawText{RawText: []byte("\xff")}, Command: decisionv1.Command_COMMAND_PREPARE},
				Seed:      proto.Uint64(11), NowMs: proto.Int64(12),
			},
			decision.Question{
				Session: decision.Session{
					Username: "app", Schemaname: "shop", ClientAddr: "10.0.0.1", ProxyAddr: "127.0.0.1", ProxyPort: 6033,
					NextQueryFlagIn: 0, TransactionHostgroup: 1, LockedHostgroup: 2, RandomValue: 0.25, KeptRoute: decision.None,
					ConnectAttrs: map[string]string{"program_name": "mysql"},
					Router: &guideline.Router{
						Name: "n", Hostname: "h", LocalCluster: "c", Tags: map[string]string{"k": "1"}, RouteName: "rw", BindAddress: "0.0.0.0",
						PortRW: 6446, PortRO: 6447, PortRWSplit: 6450,
					},
				},
				Statement: decision.Statement{Text: []byte("\xff"), HasText: true, Command: decision.Prepare},
				Seed:      11, NowMS: 12,
			},
		},
		"digest": {
			&decisionv1.RouteStatementRequest{
				Session:   &decisionv1.Session{Username: "app"},
				Statement: &decisionv1.Statement{Digest: "0x00000000000000FF", DigestText: "SELECT ?", Command: decisionv1.Command_COMMAND_EXECUTE},
			},
			decision.Question{Session: none, Statement: decision.Statement{Digest: 255, DigestText: []byte("SELECT ?"), HasDigest: true, Command: decision.Execute}},
		},
		"raw digest text wins over the shown one": {
			&decisionv1.RouteStatementRequest{
				Session:   &decisionv1.Session{Username: "app"},
				Statement: &decisionv1.Statement{Digest: "0x1", DigestText: "\uFFFD", RawDigestText: []byte("\xff"), Command: decisionv1.Command_COMMAND_EXECUTE},
			},
			decision.Question{Session: none, Statement: decision.Statement{Digest: 1, DigestText: []byte("\xff"), HasDigest: true, Command: decision.Execute}},
		},
		"a digest beside a text is not used": {
			&decisionv1.RouteStatementRequest{
				Session:   &decisionv1.Session{Username: "app"},
				Statement: &decisionv1.Statement{Body: &decisionv1.Statement_Text{Text: "x"}, Digest: "0x1", DigestText: "y"},
			},
			decision.Question{Session: none, Statement: decision.Statement{Text: []byte("x"), HasText: true}},
		},
	}
	var q decision.Question // used again, as by a server
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if err := translate.QuestionFromProto(tt.req, &q); err != nil {
				t.Fatal(err)
			}
			got := q
			got.Statement.Text = append([]byte(nil), got.Statement.Text...)
			got.Statement.DigestText = append([]byte(nil), got.Statement.DigestText...)
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got\n%+v\nwant\n%+v", got, tt.want)
			}
		})
	}
}

func TestQuestionFromProtoErrors(t *testing.T) {
	statement := func(s *decisionv1.Statement) *decisionv1.RouteStatementRequest {
		return &decisionv1.RouteStatementRequest{Session: &decisionv1.Session{Username: "app"}, Statement: s}
	}
	session := func(s *decisionv1.Session) *decisionv1.RouteStatementRequest {
		return &decisionv1.RouteStatementRequest{Session: s, Statement: &decisionv1.Statement{Body: &decisionv1.Statement_Text{Text: "x"}}}
	}
	long := strings.Repeat("x", translate.MaxTextBytes+1)
	tests := []struct {
		field string
		req   *decisionv1.RouteStatementRequest
	}{
		{"session", &decisionv1.RouteStatementRequest{}},
		{"session.client_port", session(&decisionv1.Session{ClientPort: 65536})},
		{"session.proxy_port", session(&decisionv1.Session{ProxyPort: 65536})},
		{"session.random_value", session(&decisionv1.Session{RandomValue: new(-0.1)})},
		{"session.random_value", session(&decisionv1.Session{RandomValue: proto.Float64(1)})},
		{"session.router.port_rw", session(&decisionv1.Session{Router: &decisionv1.Router{PortRw: 65536}})},
		{"session.router.port_rw_split", session(&decisionv1.Session{Router: &decisionv1.Router{PortRwSplit: 70000}})},
		{"session.next_query_flag_in", session(&decisionv1.Session{NextQueryFlagIn: proto.Int32(-1)})},
		{"session.transaction_hostgroup", session(&decisionv1.Session{TransactionHostgroup: proto.Int32(-1)})},
		{"session.locked_hostgroup", session(&decisionv1.Session{LockedHostgroup: proto.Int32(-1)})},
		{"statement", statement(nil)},
		{"statement", statement(&decisionv1.Statement{})},
		{"statement.command", statement(&decisionv1.Statement{Body: &decisionv1.Statement_Text{Text: "x"}, Command: 4})},
		{"statement.text", statement(&decisionv1.Statement{Body: &decisionv1.Statement_Text{Text: long}})},
		{"statement.raw_text", statement(&decisionv1.Statement{Body: &decisionv1.Statement_RawText{RawText: []byte(long)}})},
		{"statement.digest", statement(&decisionv1.Statement{DigestText: "SELECT ?"})},
		{"statement.digest", statement(&decisionv1.Statement{Digest: "0x12345678901234567", DigestText: "SELECT ?"})},
		{"statement.digest_text", statement(&decisionv1.Statement{Digest: "0x1"})},
		{"statement.digest_text", statement(&decisionv1.Statement{Digest: "0x1", DigestText: long})},
	}
	for _, tt := range tests {
		var q decision.Question
		err := translate.QuestionFromProto(tt.req, &q)
		var field *translate.FieldError
		if !errors.As(err, &field) || field.Field != tt.field || field.Message == "" {
			t.Errorf("error %v, want one of field %s", err, tt.field)
		}
	}
}

func TestQuestionFromProtoAllocatesNothing(t *testing.T) {
	req := &decisionv1.RouteStatementRequest{
		Session:   &decisionv1.Session{Username: "app", NextQueryFlagIn: proto.Int32(3)},
		Statement: &decisionv1.Statement{Body: &decisionv1.Statement_Text{Text: "SELECT 1"}},
	}
	var q decision.Question
	allocs := testing.AllocsPerRun(100, func() {
		if err := translate.QuestionFromProto(req, &q); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations, want 0", allocs)
	}
}

// The buffer of a reused question must never be the memory of a request.
func TestQuestionFromProtoKeepsRequestsApart(t *testing.T) {
	raw := []byte("SELECT 1")
	var q decision.Question
	for _, body := range []*decisionv1.Statement{
		{Body: &decisionv1.Statement_RawText{RawText: raw}},
		{Body: &decisionv1.Statement_RawText{RawText: []byte("xxxxxxxx")}},
	} {
		if err := translate.QuestionFromProto(&decisionv1.RouteStatementRequest{Session: &decisionv1.Session{}, Statement: body}, &q); err != nil {
			t.Fatal(err)
		}
	}
	if string(raw) != "SELECT 1" {
		t.Errorf("a request changed to %q", raw)
	}
}

// TestEmptyDigestText has a statement of comments alone: its digest text is empty, and its digest is that of nothing.
func TestEmptyDigestText(t *testing.T) {
	req := &decisionv1.RouteStatementRequest{
		Session:   &decisionv1.Session{Username: "app"},
		Statement: &decisionv1.Statement{Digest: "0x232706FC6BF50919", Command: decisionv1.Command_COMMAND_EXECUTE},
	}
	var q decision.Question
	if err := translate.QuestionFromProto(req, &q); err != nil || !q.Statement.HasDigest || len(q.Statement.DigestText) != 0 {
		t.Errorf("%+v, %v", q.Statement, err)
	}
}
