package ctl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// protoJSON writes messages with the proto's own field names and with the zero values of fields that have no
// presence, so that readers need no knowledge of defaults.
var protoJSON = protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: true}

// appendProto appends m as one line of JSON without a line end.
func appendProto(dst []byte, m proto.Message) ([]byte, error) {
	raw, err := protoJSON.Marshal(m)
	if err != nil {
		return dst, fmt.Errorf("marshal %s: %w", m.ProtoReflect().Descriptor().Name(), err)
	}
	buf := bytes.NewBuffer(dst)
	// protojson varies its blanks on purpose; compact JSON is the same every time.
	if err := json.Compact(buf, raw); err != nil {
		return dst, fmt.Errorf("compact JSON: %w", err)
	}
	return buf.Bytes(), nil
}

func (a *app) printProto(m proto.Message) error {
	line, err := appendProto(nil, m)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, line, "", "  "); err != nil {
		return fmt.Errorf("indent JSON: %w", err)
	}
	out.WriteByte('\n')
	_, err = a.io.Out.Write(out.Bytes())
	return err
}

func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.io.Out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// problem is a configuration problem in the tool's JSON output.
type problem struct {
	RuleID   int64  `json:"rule_id,omitempty"`
	Path     string `json:"path"`
	Position *int32 `json:"position,omitempty"`
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
}

func problemList(in []*configv1.Problem) []problem {
	out := make([]problem, 0, len(in))
	for _, p := range in {
		out = append(out, problem{p.GetRuleId(), p.GetPath(), p.Position, p.GetCode(), severity(p), p.GetMessage()}) //nolint:protogetter // nil is absent
	}
	return out
}

func severity(p *configv1.Problem) string {
	if p.GetSeverity() == configv1.Severity_SEVERITY_WARNING {
		return "warning"
	}
	return "error"
}

func hasErrors(in []*configv1.Problem) bool {
	for _, p := range in {
		if p.GetSeverity() != configv1.Severity_SEVERITY_WARNING {
			return true
		}
	}
	return false
}

// writeProblems prints one problem a line: severity, place, message, code. Below a problem in a guideline of cfg, which may
// be nil, stand the expression and a mark under the fault.
func writeProblems(w io.Writer, cfg *configv1.Config, in []*configv1.Problem) {
	places := guidelineFaults(cfg, in)
	for _, p := range in {
		place := p.GetPath()
		if p.GetRuleId() != 0 {
			place = fmt.Sprintf("rule %d, %s", p.GetRuleId(), p.GetPath())
		}
		if p.Position != nil {
			place += fmt.Sprintf(", byte %d", p.GetPosition())
		}
		fmt.Fprintf(w, "%s: %s: %s [%s]\n", severity(p), printable(place), oneLine(p.GetMessage()), p.GetCode())
		if at := places[faultKey{p.GetPath(), p.GetPosition()}]; at != nil && p.Position != nil {
			writeCaret(w, at.Expression, at.Start, at.End)
		}
		if p.GetCode() == "guideline" {
			writeHint(w, p.GetMessage())
		}
	}
}

// message gives an error's text for people; gRPC errors lose their wrapping words.
func message(err error) string {
	var rpc interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &rpc) {
		return err.Error()
	}
	st := rpc.GRPCStatus()
	text := st.Message()
	switch {
	case st.Code() == codes.Unavailable && strings.Contains(text, healthv1.HealthCheckResponse_NOT_SERVING.String()):
		return "the decision server has no generation in force yet, or is stopping; publish a configuration, or choose another server with --server"
	case len(st.Details()) > 0: // the server's own answer
	case st.Code() == codes.Unavailable, st.Code() == codes.DeadlineExceeded:
		text += " (is the decision server running? choose it with --server)"
	}
	return text
}

// codeName gives a status code's name as the API writes it, e.g. INVALID_ARGUMENT.
func codeName(c codes.Code) string {
	if c == codes.OK {
		return "OK"
	}
	var b strings.Builder
	for i, r := range c.String() {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return strings.ToUpper(b.String())
}

// printable escapes what would do things to a terminal, break a line or can't be seen.
func printable(s string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return s
	}
	q := strconv.Quote(s)
	return q[1 : len(q)-1]
}

// printableLines is printable for a text of several lines with tabs.
func printableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		parts := strings.Split(lines[i], "\t")
		for j := range parts {
			parts[j] = printable(parts[j])
		}
		lines[i] = strings.Join(parts, "\t")
	}
	return strings.Join(lines, "\n")
}

// cut leaves out what stands behind the first n characters.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "..."
}
