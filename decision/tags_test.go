package decision_test

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/pointsman/pointsman/decision"
)

func TestTagTexts(t *testing.T) {
	got := decision.TagTexts(map[string]any{
		"text": "a\"b\\c/d<é\u2028", "control": "\b\f\n\r\t\x00\x1f", "whole": 41.0, "negative": -0.5, "large": 1e21, "many": 123456789.0, "nan": math.NaN(),
		"yes": true, "no": false, "none": nil, "other": struct{}{}, "empty": "", "list": []any{}, "deep": []any{map[string]any{}, []any{nil}},
		"object": map[string]any{"bb": 1.0, "a": "x", "ba": nil, "ccc": map[string]any{"b": 1.0, "a": 2.0}},
	})
	want := map[string]string{
		"text": "\"a\\\"b\\\\c/d<é\u2028\"", "control": `"\b\f\n\r\t\u0000\u001F"`, "whole": "41", "negative": "-0.5", "large": "1e+21", "many": "123456789",
		"nan": "null", "yes": "true", "no": "false", "none": "null", "other": "null", "empty": `""`, "list": "[]", "deep": "[{},[null]]",
		"object": `{"a":"x","ba":null,"bb":1,"ccc":{"a":2,"b":1}}`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if decision.TagTexts(nil) != nil || decision.TagTexts(map[string]any{}) != nil {
		t.Error("no tags became some")
	}
}

// FuzzTagTexts wants texts that are JSON of the same value.
func FuzzTagTexts(f *testing.F) {
	f.Add(`{"a": [1, "\u0000é\\", {"b": null}], "c": 1e300}`)
	f.Fuzz(func(t *testing.T, text string) {
		var tags map[string]any
		if json.Unmarshal([]byte(text), &tags) != nil {
			return
		}
		for key, text := range decision.TagTexts(tags) {
			var back any
			if err := json.Unmarshal([]byte(text), &back); err != nil || !reflect.DeepEqual(back, tags[key]) {
				t.Errorf("%q: %v became %s: %v, %v", key, tags[key], text, back, err)
			}
		}
	})
}
