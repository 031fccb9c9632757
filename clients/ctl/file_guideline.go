package ctl

import (
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pointsman/pointsman/clients/document"
)

// guidelinesAsText gives a configuration in JSON with the routing guidelines that stand in it as objects turned into
// texts. Their bytes stay, since a guideline's order and repeated keys mean something.
func guidelinesAsText(config []byte) ([]byte, error) {
	text := func(value json.RawMessage) (json.RawMessage, error) {
		if value[0] != '{' {
			return value, nil // a text already, or a mistake that form reports
		}
		return json.Marshal(string(value))
	}
	return document.Edit(config, func(key string, value json.RawMessage) (json.RawMessage, error) {
		switch {
		case key == "guideline":
			return text(value)
		case key == "guidelines" && value[0] == '[':
			return document.Edit(value, func(_ string, stored json.RawMessage) (json.RawMessage, error) {
				if stored[0] != '{' {
					return stored, nil
				}
				return document.Edit(stored, func(key string, value json.RawMessage) (json.RawMessage, error) {
					if key == "document" {
						return text(value)
					}
					return value, nil
				})
			})
		}
		return value, nil
	})
}

// isGuideline tells whether a field holds a routing guideline's text.
func isGuideline(d protoreflect.FieldDescriptor) bool {
	return d.FullName() == "pointsman.config.v1.Config.guideline" || d.FullName() == "pointsman.config.v1.Guideline.document"
}

// isFree tells whether a field holds an object of any content.
func isFree(d protoreflect.FieldDescriptor) bool {
	return d.Kind() == protoreflect.MessageKind && d.Message().FullName() == "google.protobuf.Struct"
}

// texts checks a map of texts.
func (f *form) texts(path string, v any) {
	m, ok := v.(map[string]any)
	if !ok {
		f.mistake(path, "want fields (name: value), got %s", describe(v))
		return
	}
	for _, key := range sortedKeys(m) {
		if _, ok := m[key].(string); !ok {
			f.mistake(fmt.Sprintf("%s[%q]", path, key), "want a text, got %s; write it in quotes", describe(m[key]))
		}
	}
}
