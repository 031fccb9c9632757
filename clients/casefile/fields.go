package casefile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// Fields of an outcome that are none of the answer.
const (
	fieldError   = "error"            // why there is no answer
	fieldServers = "eligible_servers" // of the destination, by configured status and weight
)

// answerFields are the fields of the answer that a case may name, in the message's order. Left out are those that a
// case can't know, and bytes: a text stands for its bytes as well.
var answerFields = func() (names []string) {
	for name := range fieldsOf((&decisionv1.RouteStatementResponse{}).ProtoReflect()) {
		names = append(names, name)
	}
	return append(names, fieldServers, fieldError)
}()

// fieldsOf gives the answer's fields by name; those of a message in it as "mirror.matched_rules".
func fieldsOf(m protoreflect.Message) func(yield func(string, value) bool) {
	return func(yield func(string, value) bool) {
		fields := m.Descriptor().Fields()
		for i := range fields.Len() {
			f := fields.Get(i)
			switch name := string(f.Name()); {
			case slices.Contains([]string{"request_id", fieldError, "generation", "cookie"}, name), f.Kind() == protoreflect.BytesKind:
			case f.Kind() == protoreflect.MessageKind && !f.IsList():
				inner := f.Message().Fields()
				for j := range inner.Len() {
					if !yield(name+"."+string(inner.Get(j).Name()), value{m.Get(f).Message(), inner.Get(j), m.Has(f)}) {
						return
					}
				}
			case f.Kind() == protoreflect.MessageKind:
			default:
				if !yield(name, value{m, f, true}) {
					return
				}
			}
		}
	}
}

// value is a field of a message.
type value struct {
	message protoreflect.Message
	field   protoreflect.FieldDescriptor
	present bool // the message is there
}

// render gives the value as a case file writes it, before quoting.
func (v value) render() string {
	f := v.field
	if !v.present || f.HasPresence() && !v.message.Has(f) {
		return Unset
	}
	got := v.message.Get(f)
	if f.IsList() {
		list := got.List()
		items := make([]string, list.Len())
		for i := range items {
			items[i] = list.Get(i).String()
		}
		if len(items) == 0 {
			return Unset
		}
		return strings.Join(items, " ")
	}
	switch f.Kind() { //nolint:exhaustive // what is left has the form of a number
	case protoreflect.EnumKind:
		return enumWord(f.Enum(), got.Enum())
	case protoreflect.StringKind:
		text := got.String()
		if raw := v.message.Descriptor().Fields().ByName("raw_" + f.Name()); raw != nil && v.message.Has(raw) {
			text = string(v.message.Get(raw).Bytes())
		}
		return textWord(text, f.HasPresence())
	}
	return fmt.Sprint(got.Interface())
}

// textWord keeps the text "unset" apart from no text. Without presence an empty text is none.
func textWord(text string, presence bool) string {
	switch {
	case text == Unset:
		return quotedUnset
	case text == "" && !presence:
		return Unset
	}
	return text
}

// enumWord gives the word of a value, e.g. rule for REASON_RULE.
func enumWord(e protoreflect.EnumDescriptor, n protoreflect.EnumNumber) string {
	prefix := strings.TrimSuffix(string(e.Values().ByNumber(0).Name()), "UNSPECIFIED")
	d := e.Values().ByNumber(n)
	if d == nil {
		return strconv.Itoa(int(n))
	}
	return strings.ToLower(strings.TrimPrefix(string(d.Name()), prefix))
}

// readWant checks a wanted value and gives it as render does.
func readWant(name, text string) (value, mistake string) {
	if name == fieldError || name == fieldServers {
		return strings.Join(strings.Fields(text), " "), ""
	}
	for field, v := range fieldsOf((&decisionv1.RouteStatementResponse{}).ProtoReflect()) {
		if field == name {
			return readField(name, text, v.field)
		}
	}
	return "", fmt.Sprintf("%s is no field of the answer; the fields are %s", name, strings.Join(answerFields, ", "))
}

func readField(name, text string, f protoreflect.FieldDescriptor) (value, mistake string) {
	if text == Unset {
		if !f.HasPresence() && !f.IsList() && f.Kind() != protoreflect.StringKind && f.ContainingMessage().Name() == "RouteStatementResponse" {
			return "", fmt.Sprintf("%s is never %s; give its value", name, Unset)
		}
		return Unset, ""
	}
	if f.IsList() {
		items := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' })
		for _, item := range items {
			if _, err := strconv.ParseUint(item, 10, 32); err != nil && f.Kind() == protoreflect.Uint32Kind {
				return "", fmt.Sprintf("%s: %q is no number; write numbers with blanks between them, or %s", name, item, Unset)
			}
		}
		if len(items) == 0 {
			return Unset, ""
		}
		return strings.Join(items, " "), ""
	}
	switch f.Kind() {
	case protoreflect.StringKind:
		return textWord(text, f.HasPresence()), ""
	case protoreflect.BoolKind:
		if text != "true" && text != "false" {
			return "", fmt.Sprintf("%s: %q is neither true nor false", name, text)
		}
	case protoreflect.EnumKind:
		var words []string
		for i := 1; i < f.Enum().Values().Len(); i++ {
			words = append(words, enumWord(f.Enum(), f.Enum().Values().Get(i).Number()))
		}
		if !slices.Contains(words, text) {
			return "", fmt.Sprintf("%s: %q is none of %s", name, text, strings.Join(words, ", "))
		}
	default:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return "", fmt.Sprintf("%s: %q is no number, nor %s", name, text, Unset)
		}
		return strconv.FormatInt(n, 10), ""
	}
	return text, ""
}
