package document

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Edit gives a JSON object or array with the values in it as change makes them. All else stays as it is, byte for byte:
// the order, keys that stand twice, blanks. The key of an array's items is empty. Any other document is given back.
func Edit(doc []byte, change func(key string, value json.RawMessage) (json.RawMessage, error)) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	begin, err := dec.Token()
	if err != nil {
		return nil, fmt.Errorf("document: %w", err)
	}
	if begin != json.Delim('{') && begin != json.Delim('[') {
		return doc, nil
	}
	out := make([]byte, 0, len(doc))
	done := 0 // so many bytes of doc are in out
	for dec.More() {
		key := ""
		if begin == json.Delim('{') {
			name, err := dec.Token()
			if err != nil {
				return nil, fmt.Errorf("document: %w", err)
			}
			key, _ = name.(string) // an object's keys are nothing else
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, fmt.Errorf("document: %w", err)
		}
		end := int(dec.InputOffset())
		out = append(out, doc[done:end-len(value)]...)
		if value, err = change(key, value); err != nil {
			return nil, err
		}
		out = append(out, value...)
		done = end
	}
	return append(out, doc[done:]...), nil
}
