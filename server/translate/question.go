package translate

import (
	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/digest"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// MaxTextBytes is the longest text of a statement.
const MaxTextBytes = 64 << 20

const maxPort = 65535

// QuestionFromProto fills q from req and reports the first bad field as a *FieldError. The buffers of q are used
// again, and the strings and maps are req's. Seed, NowMS and the session's random value are 0 when req has none: filling them
// in, like the resolved names and the route that a cookie keeps, is the caller's part.
// Whether the user exists is for the generation to say.
func QuestionFromProto(req *decisionv1.RouteStatementRequest, q *decision.Question) error {
	q.Seed, q.NowMS = req.GetSeed(), req.GetNowMs()
	if err := sessionFromProto(req.GetSession(), &q.Session); err != nil {
		return err
	}
	return statementFromProto(req.GetStatement(), &q.Statement)
}

func sessionFromProto(s *decisionv1.Session, to *decision.Session) error {
	if s == nil {
		return fieldError("session", "it is required")
	}
	if s.GetClientPort() > maxPort {
		return fieldError("session.client_port", "%d is not a port, the highest is %d", s.GetClientPort(), maxPort)
	}
	if s.GetProxyPort() > maxPort {
		return fieldError("session.proxy_port", "%d is not a port, the highest is %d", s.GetProxyPort(), maxPort)
	}
	if err := checkRouter("session.router", s.GetRouter()); err != nil {
		return err
	}
	if r := s.RandomValue; r != nil && !(*r >= 0 && *r < 1) {
		return fieldError("session.random_value", "%v is not in [0,1)", *r)
	}
	*to = decision.Session{
		Username:   s.GetUsername(),
		Schemaname: s.GetSchemaname(),
		ClientAddr: s.GetClientAddr(),
		ProxyAddr:  s.GetProxyAddr(),
		ProxyPort:  s.GetProxyPort(),

		ConnectAttrs: s.GetConnectAttrs(),
		RandomValue:  s.GetRandomValue(),
		Router:       RouterFromProto(s.GetRouter()),
		KeptRoute:    decision.None,
	}
	var err error
	if to.NextQueryFlagIn, err = optional("session.next_query_flag_in", s.NextQueryFlagIn); err != nil {
		return err
	}
	if to.TransactionHostgroup, err = optional("session.transaction_hostgroup", s.TransactionHostgroup); err != nil {
		return err
	}
	to.LockedHostgroup, err = optional("session.locked_hostgroup", s.LockedHostgroup)
	return err
}

// checkRouter finds a port that is none.
func checkRouter(field string, r *decisionv1.Router) error {
	for _, port := range [...]struct {
		name  string
		value uint32
	}{{"port_rw", r.GetPortRw()}, {"port_ro", r.GetPortRo()}, {"port_rw_split", r.GetPortRwSplit()}} {
		if port.value > maxPort {
			return fieldError(field+"."+port.name, "%d is not a port, the highest is %d", port.value, maxPort)
		}
	}
	return nil
}

// optional gives decision.None for an absent flag or hostgroup.
func optional(field string, v *int32) (int32, error) {
	if v == nil {
		return decision.None, nil
	}
	if *v < 0 {
		return 0, fieldError(field, "%d is negative; leave the field out when there is none", *v)
	}
	return *v, nil
}

func statementFromProto(s *decisionv1.Statement, to *decision.Statement) error {
	if s == nil {
		return fieldError("statement", "it is required")
	}
	textBuffer, digestBuffer := to.Text[:0], to.DigestText[:0]
	*to = decision.Statement{Text: textBuffer, DigestText: digestBuffer}
	switch s.GetCommand() {
	case decisionv1.Command_COMMAND_UNSPECIFIED, decisionv1.Command_COMMAND_QUERY:
		to.Command = decision.Query
	case decisionv1.Command_COMMAND_PREPARE:
		to.Command = decision.Prepare
	case decisionv1.Command_COMMAND_EXECUTE:
		to.Command = decision.Execute
	default:
		return fieldError("statement.command", "%d is none of COMMAND_QUERY, COMMAND_PREPARE, COMMAND_EXECUTE", s.GetCommand())
	}
	switch body := s.GetBody().(type) {
	case *decisionv1.Statement_Text:
		if len(body.Text) > MaxTextBytes {
			return tooLong("statement.text", len(body.Text))
		}
		to.Text, to.HasText = append(to.Text, body.Text...), true
	case *decisionv1.Statement_RawText:
		if len(body.RawText) > MaxTextBytes {
			return tooLong("statement.raw_text", len(body.RawText))
		}
		to.Text, to.HasText = append(to.Text, body.RawText...), true
	default:
		return digestFromProto(s, to)
	}
	return nil
}

func tooLong(field string, length int) error {
	return fieldError(field, "%d bytes are too many, the limit is %d", length, MaxTextBytes)
}

// digestFromProto takes the digest of a statement without a text.
func digestFromProto(s *decisionv1.Statement, to *decision.Statement) error {
	if s.GetDigest() == "" {
		if s.GetDigestText() != "" || len(s.GetRawDigestText()) > 0 {
			return fieldError("statement.digest", "it is required with digest_text")
		}
		return fieldError("statement", "it is empty: give text, raw_text, or digest with digest_text")
	}
	hash, err := digest.Parse(s.GetDigest())
	if err != nil {
		return fieldError("statement.digest", "%v", err)
	}
	to.DigestText = append(to.DigestText, s.GetDigestText()...)
	if raw := s.GetRawDigestText(); len(raw) > 0 {
		to.DigestText = append(to.DigestText[:0], raw...)
	}
	switch {
	case len(to.DigestText) == 0 && hash != digest.Hash(nil, 0): // a statement of comments alone has an empty one
		return fieldError("statement.digest_text", "it is required with digest: rules with match_digest look at it")
	case len(to.DigestText) > MaxTextBytes:
		return tooLong("statement.digest_text", len(to.DigestText))
	}
	to.Digest, to.HasDigest = hash, true
	return nil
}
