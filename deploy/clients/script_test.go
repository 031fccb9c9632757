package clients

import (
	"strings"
	"testing"
)

func TestParseScript(t *testing.T) {
	for _, tt := range []struct {
		name, script, want string
		full               bool
	}{
		{name: "statements", script: "# a comment\n\nSELECT 1\nSELECT\n 2", want: "query x:53454c4543542031|query x:53454c4543540a2032"},
		{name: "calls", script: ".ping\n.use a\n.user a b\n.close p\n.empty", want: "ping|use a|user a b|close p|query x:"},
		{name: "bytes", script: ".raw a%{5}b%b{300}", want: "raw x:61+g:5+x:62+h:300"},
		{name: "an exact length", script: "'%{=10}'", want: "query x:27+g:8+x:27"},
		{name: "parameters", script: `.execute p NULL -5 1.5 'it\'s' x'00ff' %{7} %b{8}`, want: "execute p n= i=x:2d35 d=x:312e35 s=x:69742773 b=x:00ff s=g:7 b=h:8"},
		{name: "repeated", script: ".for 1 2 / 3\n.close p$n\n.end\n.ping", want: "close p1|close p2|ping"},
		{name: "repeated in full", script: ".for 1 2 / 3\n.close p$n\n.end\n.ping", full: true, want: "close p1|close p2|close p3|ping"},
		{name: "an unknown call", script: ".nothing", want: `".nothing": unknown operation`},
		{name: "a bad parameter", script: ".execute p nothing", want: `parameter nothing: strconv.ParseFloat: parsing "nothing": invalid syntax`},
	} {
		steps, err := parseScript(tt.script, tt.full)
		var lines []string
		for _, s := range steps {
			lines = append(lines, s.encode())
		}
		got := strings.ReplaceAll(strings.Join(lines, "|"), "\t", " ")
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

func TestBytesOf(t *testing.T) {
	text, err := parseText("<%{18}|%b{3}>")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(text.bytes()), "<0123456789abcdef01|\x00\x01\x02>"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
