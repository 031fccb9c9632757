package ctl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"sigs.k8s.io/yaml"

	"github.com/pointsman/pointsman/clients/document"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// loadConfig reads a configuration document, YAML or JSON; "-" is standard input. All mistakes of form
// (unknown fields, wrong types) are reported at once, each with its path.
func (a *app) loadConfig(path string) (*configv1.Config, error) {
	var raw []byte
	var err error
	if path == "-" {
		raw, err = io.ReadAll(a.io.In)
	} else {
		raw, err = os.ReadFile(path) //nolint:gosec // the user names the file
	}
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	cfg, err := parseConfig(raw)
	if err != nil {
		return nil, fmt.Errorf("configuration %s: %w", path, err)
	}
	return cfg, nil
}

func parseConfig(raw []byte) (*configv1.Config, error) {
	doc, err := document.ToJSON(raw)
	if err != nil {
		return nil, err
	}
	if doc, err = guidelinesAsText(doc); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return nil, fmt.Errorf("document: %w", err)
	}
	cfg := &configv1.Config{}
	if tree == nil {
		return cfg, nil // an empty file is an empty configuration
	}
	if looksLikeGuideline(doc) {
		return nil, errors.New(`this looks like a routing guideline (it has destinations or routes), not like a configuration: use "pointsmanctl guideline check" or "guideline import"`)
	}
	var f form
	f.message("", tree, cfg.ProtoReflect().Descriptor())
	if len(f.mistakes) > 0 {
		return nil, errors.New(strings.Join(f.mistakes, "\n  "))
	}
	if err := protojson.Unmarshal(doc, cfg); err != nil {
		return nil, err
	}
	return cfg, nil
}

// formatConfig writes a configuration as YAML that parseConfig reads.
func formatConfig(cfg *configv1.Config) ([]byte, error) {
	raw, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(cfg)
	if err != nil {
		return nil, fmt.Errorf("marshal configuration: %w", err)
	}
	var tree map[string]any
	if err := json.Unmarshal(raw, &tree); err != nil {
		return nil, fmt.Errorf("read own JSON: %w", err)
	}
	plainNumbers(tree, cfg.ProtoReflect().Descriptor())
	text, err := yaml.Marshal(tree)
	if err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	return text, nil
}

// plainNumbers makes numbers of the texts that proto JSON writes for 64-bit numbers.
func plainNumbers(tree map[string]any, d protoreflect.MessageDescriptor) {
	for name, v := range tree {
		field := d.Fields().ByName(protoreflect.Name(name))
		if field.IsMap() || isFree(field) {
			continue // its keys are no fields
		}
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				if m, ok := item.(map[string]any); ok {
					plainNumbers(m, field.Message())
				}
			}
		case map[string]any:
			plainNumbers(v, field.Message())
		case string:
			if n, err := strconv.ParseInt(v, 10, 64); err == nil && field.Kind() == protoreflect.Int64Kind {
				tree[name] = n
			}
		}
	}
}

// form compares a document with the message it shall become.
type form struct{ mistakes []string }

func (f *form) mistake(path, format string, args ...any) {
	if path == "" {
		path = "document"
	}
	f.mistakes = append(f.mistakes, path+": "+fmt.Sprintf(format, args...))
}

func (f *form) message(path string, v any, d protoreflect.MessageDescriptor) {
	m, ok := v.(map[string]any)
	if !ok {
		f.mistake(path, "want fields (name: value), got %s", describe(v))
		return
	}
	for _, name := range sortedKeys(m) {
		at := name
		if path != "" {
			at = path + "." + name
		}
		field := d.Fields().ByName(protoreflect.Name(name))
		if field == nil {
			field = d.Fields().ByJSONName(name)
		}
		if field == nil {
			f.mistake(at, "unknown field%s", suggest(name, d))
			continue
		}
		f.field(at, m[name], field)
	}
}

func (f *form) field(path string, v any, d protoreflect.FieldDescriptor) {
	switch {
	case v == nil: // absent
		return
	case d.IsMap(): // the configuration's maps hold texts
		f.texts(path, v)
		return
	case !d.IsList():
		f.value(path, v, d)
		return
	}
	list, ok := v.([]any)
	if !ok {
		f.mistake(path, "want a list, got %s", describe(v))
		return
	}
	for i, item := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		if item == nil {
			f.mistake(at, "the item is empty")
			continue
		}
		f.value(at, item, d)
	}
}

func (f *form) value(path string, v any, d protoreflect.FieldDescriptor) {
	switch d.Kind() { //nolint:exhaustive // the configuration has no other kinds; protojson checks what is left
	case protoreflect.MessageKind:
		if _, ok := v.(map[string]any); ok && isFree(d) {
			return
		}
		f.message(path, v, d.Message())
	case protoreflect.BoolKind:
		if _, ok := v.(bool); !ok {
			f.mistake(path, "want true or false, got %s", describe(v))
		}
	case protoreflect.StringKind:
		switch _, ok := v.(string); {
		case ok:
		case isGuideline(d):
			f.mistake(path, "want a routing guideline (its fields, or a text that holds it in JSON), got %s", describe(v))
		default:
			f.mistake(path, "want a text, got %s; write it in quotes", describe(v))
		}
	case protoreflect.Int32Kind:
		f.number(path, v, "-2147483648", "2147483647")
	case protoreflect.Uint32Kind:
		f.number(path, v, "0", "4294967295")
	case protoreflect.Int64Kind:
		f.number(path, v, "-9223372036854775808", "9223372036854775807")
	}
}

func (f *form) number(path string, v any, low, high string) {
	n, ok := v.(json.Number)
	if !ok {
		if s, isText := v.(string); isText { // proto JSON writes 64-bit numbers as texts
			n, ok = json.Number(s), true
		}
	}
	r, valid := new(big.Rat).SetString(n.String())
	if !ok || !valid || !r.IsInt() {
		f.mistake(path, "want a whole number, got %s", describe(v))
		return
	}
	lo, _ := new(big.Rat).SetString(low)
	hi, _ := new(big.Rat).SetString(high)
	if r.Cmp(lo) < 0 || r.Cmp(hi) > 0 {
		f.mistake(path, "%s is not within %s..%s", n, low, high)
	}
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case string:
		return fmt.Sprintf("the text %q", v)
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return "the number " + v.String()
	case []any:
		return "a list"
	}
	return "fields (name: value)"
}

// suggest finds the field that a ProxySQL column name or a slip means, e.g. flagIN or OK_msg.
func suggest(name string, d protoreflect.MessageDescriptor) string {
	plain := func(s string) string { return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s)) }
	want := strings.TrimPrefix(plain(name), "mysql")
	all := make([]string, 0, d.Fields().Len())
	for i := range d.Fields().Len() {
		field := string(d.Fields().Get(i).Name())
		if plain(field) == want {
			return fmt.Sprintf("; did you mean %s?", field)
		}
		all = append(all, field)
	}
	if len(all) > 12 {
		return "; see docs/configuration.md"
	}
	return "; the fields are " + strings.Join(all, ", ")
}
