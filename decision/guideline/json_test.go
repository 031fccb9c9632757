package guideline

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestReadJSON(t *testing.T) {
	got, err := readJSON("\ufeff {\"a\": [1.50, -0, true, null], \"a\": \"x\\u00e9\\ud83d\\ude00\\n/\", \"\": {}}\r\n")
	want := jsonValue{kind: jsonObject, children: []jsonValue{
		{key: "a", kind: jsonArray, children: []jsonValue{
			{kind: jsonNumber, text: "1.50"},
			{kind: jsonNumber, text: "-0"},
			{kind: jsonBoolean, text: "true"},
			{kind: jsonNull, text: "null"},
		}},
		{key: "a", kind: jsonString, text: "xé😀\n/"},
		{key: "", kind: jsonObject},
	}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// plainValue gives what encoding/json would decode.
func plainValue(tb testing.TB, v *jsonValue) any {
	tb.Helper()
	switch v.kind {
	case jsonArray:
		list := make([]any, len(v.children))
		for i := range v.children {
			list[i] = plainValue(tb, &v.children[i])
		}
		return list
	case jsonObject:
		members := make(map[string]any)
		for i := range v.children {
			members[v.children[i].key] = plainValue(tb, &v.children[i])
		}
		return members
	case jsonString:
		return v.text
	default:
		var plain any
		if err := json.Unmarshal([]byte(v.text), &plain); err != nil {
			tb.Fatalf("%q: %v", v.text, err)
		}
		return plain
	}
}

// FuzzReadJSON compares with encoding/json, which accepts everything that we do and gives the same values, and which mends
// what we refuse.
func FuzzReadJSON(f *testing.F) {
	for _, c := range cases[documentCase](f, "documents.json") {
		f.Add(string(c.bytes(f)))
	}
	f.Add(`["\u0000\ud800\udc00é", 1e-999, -0.0E+5, {"a":{}, "a":[]}]`)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := readJSON(text)
		text = strings.TrimPrefix(text, byteOrderMark)
		var want any
		wantErr := json.Unmarshal([]byte(text), &want)
		if err == nil {
			if wantErr != nil {
				t.Fatalf("accepted, want %v", wantErr)
			}
			if plain := plainValue(t, &got); !reflect.DeepEqual(plain, want) {
				t.Fatalf("got %v, want %v", plain, want)
			}
			return
		}
		bad, ok := errors.AsType[*jsonError](err)
		if !ok || !utf8.ValidString(bad.Error()) {
			t.Fatalf("error %v", err)
		}
		if n := utf8.RuneCountInString(bad.near); n > 30 {
			t.Fatalf("%d characters in %q", n, bad.near)
		}
		mended := !utf8.ValidString(text) || strings.Contains(bad.message, "surrogate")
		limited := strings.HasPrefix(bad.message, "The document ")
		if wantErr == nil && !mended && !limited {
			t.Fatalf("refused: %v", err)
		}
	})
}
