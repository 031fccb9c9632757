package ctl

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// writeHint says what mends a guideline's problem where its text, which is MySQL Router's, does not.
func writeHint(w io.Writer, text string) {
	if strings.HasSuffix(text, "'version' must be a string value") {
		fmt.Fprintln(w, `    write the version in quotes: version: "1.1"`)
	}
}

// configFields are those of a document that make it a configuration, sorted.
func configFields(doc map[string]json.RawMessage) []string {
	known := (&configv1.Config{}).ProtoReflect().Descriptor().Fields()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(doc)), func(name string) bool {
		return known.ByName(protoreflect.Name(name)) == nil && known.ByJSONName(name) == nil
	})
}

// looksLikeGuideline tells whether a document has fields of a routing guideline and none of a configuration.
func looksLikeGuideline(raw []byte) bool {
	var doc map[string]json.RawMessage
	if json.Unmarshal(raw, &doc) != nil {
		return false
	}
	return (doc["destinations"] != nil || doc["routes"] != nil) && len(configFields(doc)) == 0
}

// otherKind says that a guideline with problems looks like a configuration; empty: it does not.
func otherKind(raw []byte) string {
	var doc map[string]json.RawMessage
	if json.Unmarshal(raw, &doc) != nil || doc["destinations"] != nil || doc["routes"] != nil {
		return ""
	}
	fields := configFields(doc)
	if len(fields) == 0 {
		return ""
	}
	return fmt.Sprintf("this looks like a configuration (it has %s), not like a routing guideline: use \"pointsmanctl validate\" or \"publish\"", strings.Join(fields, ", "))
}
