// Package document reads the one document that a YAML or JSON file of Pointsman holds: a configuration, or settings.
//
// It must not know what the document says; clients/ctl and clients/settings do.
package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	yamlv2 "go.yaml.in/yaml/v2"
	"sigs.k8s.io/yaml"
)

// ToJSON gives the document as JSON. A second document is refused: whatever it says would not count. So is a key that
// stands twice. An empty file is the document null.
func ToJSON(raw []byte) ([]byte, error) {
	if json.Valid(raw) { // YAML includes JSON, but takes far longer for large documents.
		return raw, nil
	}
	doc, err := yaml.YAMLToJSONStrict(raw)
	if err != nil {
		return nil, err
	}
	dec := yamlv2.NewDecoder(bytes.NewReader(raw))
	for n := 1; ; n++ {
		var fields yamlv2.MapSlice
		err := dec.Decode(&fields)
		var shape *yamlv2.TypeError // no fields: told by whoever reads the document
		switch {
		case errors.Is(err, io.EOF):
			return doc, nil
		case n > 1:
			return nil, errors.New("more than one document: what follows the first one (after a line with ---, say) would not count; put all into one")
		case err != nil && !errors.As(err, &shape):
			return nil, fmt.Errorf("document: %w", err)
		}
	}
}
