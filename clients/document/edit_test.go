package document_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/pointsman/pointsman/clients/document"
)

func TestEdit(t *testing.T) {
	note := func(key string, value json.RawMessage) (json.RawMessage, error) {
		if string(value) == `"no"` {
			return nil, errors.New("no")
		}
		if key == "keep" {
			return value, nil
		}
		return json.RawMessage("<" + key + "|" + string(value) + ">"), nil
	}
	for _, tt := range []struct{ in, want string }{
		{` { "a" : {"b": [1]} , "keep":{ "a":2 },"a":null }` + "\n", ` { "a" : <a|{"b": [1]}> , "keep":{ "a":2 },"a":<a|null> }` + "\n"},
		{`[1, "x" ,{"a":2}] `, `[<|1>, <|"x"> ,<|{"a":2}>] `},
		{`{"\u0061":"\u00e4"}`, `{"\u0061":<a|"\u00e4">}`},
		{`{}`, `{}`},
		{`[]`, `[]`},
		{`"text"`, `"text"`},
		{`null`, `null`},
	} {
		if got, err := document.Edit([]byte(tt.in), note); err != nil || string(got) != tt.want {
			t.Errorf("%s: %s, %v", tt.in, got, err)
		}
	}
	for _, in := range []string{``, `{"a"`, `{"a":}`, `{"a":"no"}`, `[1,`} {
		if got, err := document.Edit([]byte(in), note); err == nil {
			t.Errorf("%s: %s", in, got)
		}
	}
}

// FuzzEdit wants every document to stay as it is, byte for byte, when nothing in it is changed.
func FuzzEdit(f *testing.F) {
	for _, seed := range []string{` {"a" : [1, {"b":null}] , "a":"\ud800"} `, `[[],{}]`, `"x"`, `1e5`, `{"a":1}{`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if !json.Valid(in) {
			return
		}
		got, err := document.Edit(in, func(_ string, value json.RawMessage) (json.RawMessage, error) { return value, nil })
		if err != nil || string(got) != string(in) {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	})
}
