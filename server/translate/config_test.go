package translate_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/pointsman/pointsman/decision"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	"github.com/pointsman/pointsman/server/translate"
)

// fill sets every field of a message to a value of its own, and two items in every list.
func fill(m protoreflect.Message, n *int64) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		switch {
		case f.IsMap():
			*n++
			m.Mutable(f).Map().Set(protoreflect.ValueOfString(fmt.Sprint("key", *n)).MapKey(), scalar(f.MapValue(), *n))
		case f.Message() != nil && f.Message().FullName() == "google.protobuf.Struct":
			m.Set(f, protoreflect.ValueOfMessage(someTags().ProtoReflect()))
		case f.IsList():
			list := m.Mutable(f).List()
			for range 2 {
				fill(list.AppendMutable().Message(), n)
			}
		case f.Message() != nil:
			fill(m.Mutable(f).Message(), n)
		default:
			*n++
			m.Set(f, scalar(f, *n))
		}
	}
}

// someTags holds a value of each kind.
func someTags() *structpb.Struct {
	return &structpb.Struct{Fields: map[string]*structpb.Value{
		"text": structpb.NewStringValue("a\"\\\x01é</"), "number": structpb.NewNumberValue(41), "fraction": structpb.NewNumberValue(-0.5),
		"flag": structpb.NewBoolValue(true), "none": structpb.NewNullValue(),
		"list": structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{structpb.NewNumberValue(1), structpb.NewStringValue("")}}),
		"object": structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
			"bb": structpb.NewNumberValue(1), "a": structpb.NewNumberValue(2), "ba": structpb.NewNumberValue(3),
		}}),
	}}
}

func scalar(f protoreflect.FieldDescriptor, n int64) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(n))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(n)
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(uint32(n))
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(fmt.Sprint("text", n))
	default:
		panic(fmt.Sprintf("%s has kind %s", f.FullName(), f.Kind()))
	}
}

func full() *configv1.Config {
	cfg := &configv1.Config{}
	var n int64
	fill(cfg.ProtoReflect(), &n)
	return cfg
}

func TestConfigRoundTrip(t *testing.T) {
	for name, cfg := range map[string]*configv1.Config{
		"empty":     {},
		"all":       full(),
		"zero rows": {Users: []*configv1.User{{}}, QueryRules: []*configv1.QueryRule{{}, {}}, Servers: []*configv1.Server{{}}},
		"set zeros": {Settings: &configv1.Settings{QueryDigests: new(false)}, QueryRules: []*configv1.QueryRule{{DestinationHostgroup: proto.Int64(0), ReModifiers: new("")}}},
	} {
		t.Run(name, func(t *testing.T) {
			core := translate.ConfigFromProto(cfg)
			back := translate.ConfigToProto(core)
			if !proto.Equal(cfg, back) {
				t.Errorf("got\n%s\nwant\n%s", protojson.Format(back), protojson.Format(cfg))
			}
			if name == "all" {
				noZero(t, "Config", reflect.ValueOf(*core))
			}
		})
	}
}

// noZero reports fields that were not filled.
func noZero(t *testing.T, path string, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			noZero(t, path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.Slice:
		if v.Len() != 2 {
			t.Errorf("%s has %d items, want 2", path, v.Len())
		}
		for i := range v.Len() {
			noZero(t, fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
	case reflect.Pointer:
		if v.IsNil() {
			t.Errorf("%s is not filled", path)
			return
		}
		if v.Elem().Kind() == reflect.Struct {
			noZero(t, path, v.Elem())
		}
	default:
		if v.IsZero() {
			t.Errorf("%s is not filled", path)
		}
	}
}

func TestStoredForm(t *testing.T) {
	want := full()
	want.QueryRules[0].Active = new(false)
	stored, err := translate.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	again, err := translate.Marshal(proto.CloneOf(want))
	if err != nil || string(again) != string(stored) {
		t.Errorf("equal configurations have different bytes, error %v", err)
	}
	got, err := translate.Unmarshal(translate.Format, stored)
	if err != nil || !proto.Equal(got, want) {
		t.Errorf("got %v, error %v", got, err)
	}
	if _, err := translate.Unmarshal(translate.Format+1, stored); !errors.Is(err, translate.ErrFormat) {
		t.Errorf("newer format: error %v, want ErrFormat", err)
	}
	if _, err := translate.Unmarshal(translate.Format, stored[:len(stored)-1]); err == nil {
		t.Error("cut bytes are taken")
	}
}

func TestUnknownField(t *testing.T) {
	unknown := []byte{0x82, 0x7d, 0} // field 2000
	tests := map[string]func(*configv1.Config) protoreflect.Message{
		"":               func(*configv1.Config) protoreflect.Message { return nil },
		"config":         func(c *configv1.Config) protoreflect.Message { return c.ProtoReflect() },
		"settings":       func(c *configv1.Config) protoreflect.Message { return c.GetSettings().ProtoReflect() },
		"users[1]":       func(c *configv1.Config) protoreflect.Message { return c.GetUsers()[1].ProtoReflect() },
		"fast_routes[0]": func(c *configv1.Config) protoreflect.Message { return c.GetFastRoutes()[0].ProtoReflect() },
		"query_rules[1]": func(c *configv1.Config) protoreflect.Message { return c.GetQueryRules()[1].ProtoReflect() },
		"hostgroups[0]":  func(c *configv1.Config) protoreflect.Message { return c.GetHostgroups()[0].ProtoReflect() },
		"servers[1]":     func(c *configv1.Config) protoreflect.Message { return c.GetServers()[1].ProtoReflect() },

		"guideline_binding": func(c *configv1.Config) protoreflect.Message { return c.GetGuidelineBinding().ProtoReflect() },
		"guidelines[1]":     func(c *configv1.Config) protoreflect.Message { return c.GetGuidelines()[1].ProtoReflect() },
		"servers[0].tags":   func(c *configv1.Config) protoreflect.Message { return c.GetServers()[0].GetTags().ProtoReflect() },
		`servers[1].tags.fields["list"].list_value.values[1]`: func(c *configv1.Config) protoreflect.Message {
			return c.GetServers()[1].GetTags().GetFields()["list"].GetListValue().GetValues()[1].ProtoReflect()
		},
	}
	for want, pick := range tests {
		cfg := full()
		if m := pick(cfg); m != nil {
			m.SetUnknown(unknown)
		}
		if got := translate.UnknownField(cfg); got != want {
			t.Errorf("unknown field in %q: got %q", want, got)
		}
	}
}

// TestTags wants the texts that expressions compare with.
func TestTags(t *testing.T) {
	cfg := translate.ConfigFromProto(&configv1.Config{Servers: []*configv1.Server{{Tags: someTags()}, {Tags: &structpb.Struct{}}}})
	want := map[string]string{
		"text": `"a\"\\\u0001é</"`, "number": "41", "fraction": "-0.5", "flag": "true", "none": "null", "list": `[1,""]`, "object": `{"a":2,"ba":3,"bb":1}`,
	}
	if got := cfg.Servers[0].Tags; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if got := cfg.Servers[1].Tags; got != nil {
		t.Errorf("no tags became %v", got)
	}
}

func TestProblemsToProto(t *testing.T) {
	got := translate.ProblemsToProto(decision.Problems{
		{RuleID: 3, Path: "query_rules[0].match_digest", Position: 4, Code: "regex_syntax", Severity: decision.Error, Message: "bad \xff"},
		{Path: "users[0]", Position: -1, Code: "no_password", Severity: decision.Warning, Message: "none"},
	})
	want := []*configv1.Problem{
		{RuleId: 3, Path: "query_rules[0].match_digest", Position: proto.Int32(4), Code: "regex_syntax", Severity: configv1.Severity_SEVERITY_ERROR, Message: "bad \uFFFD"},
		{Path: "users[0]", Code: "no_password", Severity: configv1.Severity_SEVERITY_WARNING, Message: "none"},
	}
	for i := range want {
		if !proto.Equal(got[i], want[i]) {
			t.Errorf("problem %d: %v, want %v", i, got[i], want[i])
		}
	}
	if len(translate.ProblemsToProto(nil)) != 0 {
		t.Error("no problems became some")
	}
}
