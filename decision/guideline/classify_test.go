package guideline

import (
	"errors"
	"reflect"
	"testing"
)

const classes = `{"version": "1.1", "destinations": [
	{"name": "net", "match": "NETWORK($.server.address, 8) = '10.0.0.0'"},
	{"name": "label", "match": "NUMBER($.server.label) > 0"},
	{"name": "all", "match": "TRUE"}],
	"routes": [{"name": "r", "match": "TRUE", "destinations": [
		{"classes": ["all", "net"], "strategy": "round-robin", "priority": 1},
		{"classes": ["label"], "strategy": "round-robin", "priority": 0},
		{"classes": ["net", "net"], "strategy": "round-robin", "priority": 1}]}]}`

func TestClassify(t *testing.T) {
	g := compile(t, classes)
	for _, tt := range []struct {
		server Server
		want   []int
		errors []string
	}{
		{Server{Label: "1", Address: "10.1.1.1"}, []int{0, 1, 2}, nil},
		{Server{Label: "0", Address: "11.1.1.1"}, []int{2}, nil},
		{
			Server{Label: "db", Address: "db"},
			[]int{2},
			[]string{
				"destinations.label: NUMBER function, unable to convert 'db' to number in 'NUMBER($.server.label)'",
				"destinations.net: Network function called on invalid IPv4 address: 'db'",
			},
		},
	} {
		got, errs := g.Classify(&Facts{Server: &tt.server})
		var texts []string
		for _, err := range errs {
			texts = append(texts, err.Error())
			if bad, ok := errors.AsType[*ClassError](err); !ok || errors.Unwrap(bad) == nil {
				t.Errorf("error %#v", err)
			}
		}
		if !reflect.DeepEqual(got, tt.want) || !reflect.DeepEqual(texts, tt.errors) {
			t.Errorf("%+v: got %v, %q", tt.server, got, texts)
		}
	}
}

func TestTiers(t *testing.T) {
	g := compile(t, classes)
	for _, tt := range []struct {
		name      string
		classesOf [][]int
		want      [][]int
	}{
		{"no servers", nil, [][]int{nil, nil, nil}},
		{"one without classes", [][]int{{}, {2}}, [][]int{nil, {1}, nil}},
		{"in two classes", [][]int{{0, 2}, {1, 2}, {0, 1, 2}}, [][]int{{1, 2}, {0, 1, 2, 0, 2}, {0, 2, 0, 2}}},
	} {
		if got := g.Tiers(0, tt.classesOf); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %v", tt.name, got)
		}
	}
}

func TestHidden(t *testing.T) {
	for tags, want := range map[string]bool{"true": true, "false": false, `"true"`: false, "1": false, "": false} {
		if got := Hidden(map[string]string{"_hidden": tags}); got != want {
			t.Errorf("%s: got %v", tags, got)
		}
	}
	if Hidden(nil) {
		t.Error("hidden without tags")
	}
}
