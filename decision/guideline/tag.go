package guideline

import (
	"strconv"
	"strings"
)

// Tags of documents above version 1.0 are JSON, and compare as such (spec 16).

// jsonKindOf tells what a stored tag is; false for what is no JSON.
func jsonKindOf(stored string) (jsonKind, bool) {
	switch {
	case stored == "":
	case stored == "null":
		return jsonNull, true
	case stored == "true" || stored == "false":
		return jsonBoolean, true
	case stored[0] == '{':
		return jsonObject, true
	case stored[0] == '[':
		return jsonArray, true
	case stored[0] == '"' && len(stored) > 1 && stored[len(stored)-1] == '"':
		return jsonString, true
	case isDigit(stored[0]) || stored[0] == '-' && len(stored) > 1 && isDigit(stored[1]):
		return jsonNumber, true
	}
	return 0, false
}

// jsonContent gives what functions see of a tag: the content of a string, everything else as it is stored.
// It allocates only for a string with escapes.
func jsonContent(stored string) string {
	if kind, ok := jsonKindOf(stored); !ok || kind != jsonString {
		return stored
	}
	content := stored[1 : len(stored)-1]
	if !strings.Contains(content, `\`) {
		return content
	}
	s := jsonScanner{text: stored}
	text, err := s.quoted()
	if err != nil {
		return stored
	}
	return text
}

// jsonDouble gives the number that a tag is.
func jsonDouble(stored string) float64 {
	number, _ := strconv.ParseFloat(stored, 64)
	return number
}

// jsonTruth tells whether a tag counts as true: false, null, zero and the empty text don't.
func jsonTruth(stored string) bool {
	kind, ok := jsonKindOf(stored)
	if !ok {
		return true
	}
	switch kind {
	case jsonNull:
		return false
	case jsonBoolean:
		return stored == "true"
	case jsonNumber:
		return Value{Type: Number, Number: jsonDouble(stored)}.truth()
	case jsonString:
		return stored != `""`
	case jsonArray, jsonObject:
	}
	return true
}

// tagEqual compares a tag with anything.
func tagEqual(tag *datum, otherNode *node, other *datum) bool {
	if tag.Type == Null {
		return other.Type == Null && !otherNode.isConstant()
	}
	if otherNode.isConstant() {
		return storedEquals(tag.json, other.Value)
	}
	if other.Type == Null {
		return false
	}
	if otherNode.op == opJSON {
		return equalFold(tag.json, other.Text)
	}
	if !otherNode.isTag() {
		return storedEquals(tag.json, other.Value)
	}
	kind, ok := jsonKindOf(tag.json)
	otherKind, otherOK := jsonKindOf(other.json)
	switch {
	case !ok || !otherOK:
		return tag.json == other.json
	case kind != otherKind:
		return false
	case kind == jsonNumber:
		return jsonDouble(tag.json) == jsonDouble(other.json)
	}
	return equalFold(tag.Text, other.Text)
}

// storedEquals compares a tag with a value that is no tag.
func storedEquals(stored string, v Value) bool {
	kind, ok := jsonKindOf(stored)
	switch {
	case !ok:
		return false
	case v.Type == Null:
		return kind == jsonNull
	case v.Type == Number:
		return kind == jsonNumber && jsonDouble(stored) == v.Number
	case v.Type == Boolean:
		return kind == jsonBoolean && (stored == "true") == v.Bool
	}
	return kind == jsonString && equalFold(jsonContent(stored), v.Text)
}

// tagOrder compares where at least one side is a tag. Values of different kinds are in no order, nor are those of a kind that
// has none.
func tagOrder(n *node, left, right *datum) bool {
	l, r := orderKind(n.args[0], left), orderKind(n.args[1], right)
	if l != r || l == jsonNull {
		return false
	}
	if l == jsonNumber {
		return ordered(n.op, orderNumber(left), orderNumber(right))
	}
	return ordered(n.op, compareFold(left.Text, right.Text), 0)
}

// orderKind gives the kind of JSON that an operand is for ordering; jsonNull for what is in no order.
func orderKind(n *node, d *datum) jsonKind {
	stored := d.json
	if n.op == opJSON {
		stored = d.Text
	}
	switch {
	case d.Type == Number:
		return jsonNumber
	case d.Type == Null:
		return jsonNull
	case stored == "":
		return jsonString
	}
	kind, ok := jsonKindOf(stored)
	if !ok || kind == jsonBoolean {
		return jsonNull
	}
	return kind
}

func orderNumber(d *datum) float64 {
	if d.Type == Number {
		return d.Number
	}
	return jsonDouble(d.json)
}
