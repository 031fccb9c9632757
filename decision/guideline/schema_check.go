package guideline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// violation is the first place where a document breaks its schema.
type violation struct {
	keyword    string   // of JSON Schema
	Expected   any      `json:"expected,omitempty"`
	Actual     any      `json:"actual,omitempty"`
	Missing    []string `json:"missing,omitempty"`
	Disallowed string   `json:"disallowed,omitempty"`
	Instance   string   `json:"instanceRef"` // a JSON pointer into the document
	Schema     string   `json:"schemaRef"`   // and one into the schema
}

// text gives the violation as a problem's text.
func (v *violation) text() string {
	encoded, _ := json.Marshal(map[string]*violation{v.keyword: v}) // texts and numbers, so it can't fail
	return "Routing guidelines JSON document schema validation failed: " + string(encoded)
}

// inside puts the violation into the member or element at a step from there.
func (v *violation) inside(instance, schema string) *violation {
	v.Instance, v.Schema = instance+v.Instance, schema+v.Schema
	return v
}

// checkSchema finds the first violation of a document in the order of its text; nil if there is none.
func checkSchema(document *jsonValue) *violation {
	bad := documentSchema().check(document)
	if bad != nil {
		bad.inside("#", "#")
	}
	return bad
}

// check finds the first violation in a value. What the schema does not know is not looked into.
func (s *schema) check(v *jsonValue) *violation {
	if actual := typeName(v); actual != s.typeName() {
		bad := &violation{keyword: "type", Expected: []string{s.typeName()}, Actual: actual}
		if s.integer && negativeInteger(v) {
			bad.keyword, bad.Expected, bad.Actual = "minimum", 0, json.Number(v.text)
		}
		return bad
	}
	switch {
	case s.kind == jsonObject:
		return s.checkObject(v)
	case s.kind == jsonArray:
		return s.checkArray(v)
	case s.enum != nil && !slices.Contains(s.enum, v.text):
		return &violation{keyword: "enum", Expected: s.enum, Actual: v.text}
	default:
		return nil
	}
}

func (s *schema) checkObject(v *jsonValue) *violation {
	seen := make([]bool, len(s.properties))
	for i := range v.children {
		member := &v.children[i]
		known := slices.IndexFunc(s.properties, func(p property) bool { return p.name == member.key })
		if known < 0 {
			if s.closed {
				return &violation{keyword: "additionalProperties", Disallowed: member.key}
			}
			continue
		}
		seen[known] = true
		if bad := s.properties[known].schema.check(member); bad != nil {
			return bad.inside("/"+member.key, "/properties/"+member.key)
		}
	}
	var missing []string
	for i, p := range s.properties {
		if p.required && !seen[i] {
			missing = append(missing, p.name)
		}
	}
	if missing != nil {
		return &violation{keyword: "required", Missing: missing}
	}
	return nil
}

func (s *schema) checkArray(v *jsonValue) *violation {
	for i := range v.children {
		if bad := s.items.check(&v.children[i]); bad != nil {
			return bad.inside("/"+strconv.Itoa(i), "/items")
		}
	}
	if len(v.children) < s.minItems {
		return &violation{keyword: "minItems", Expected: s.minItems, Actual: len(v.children)}
	}
	if s.unique {
		if first, second := equalItems(v.children); second > 0 {
			return &violation{keyword: "uniqueItems", Actual: fmt.Sprintf("items %d and %d are equal", first, second)}
		}
	}
	return nil
}

// typeName gives the type of a value as JSON Schema calls it. An integer is what priority may be: 1.0 and -1 are none.
func typeName(v *jsonValue) string {
	switch v.kind {
	case jsonNull:
		return "null"
	case jsonBoolean:
		return "boolean"
	case jsonNumber:
		if _, ok := unsigned(v); ok {
			return "integer"
		}
		return "number"
	case jsonString:
		return "string"
	case jsonArray:
		return "array"
	default:
		return "object"
	}
}

func (s *schema) typeName() string {
	if s.integer {
		return "integer"
	}
	return typeName(&jsonValue{kind: s.kind})
}

// unsigned reads an unsigned 64-bit integer written without fraction or exponent.
func unsigned(v *jsonValue) (uint64, bool) {
	if v.kind != jsonNumber {
		return 0, false
	}
	if v.text == "-0" {
		return 0, true
	}
	n, err := strconv.ParseUint(v.text, 10, 64)
	return n, err == nil
}

func negativeInteger(v *jsonValue) bool {
	return v.kind == jsonNumber && strings.HasPrefix(v.text, "-") && !strings.ContainsAny(v.text, ".eE")
}
