package mysql

import (
	"bytes"
	"errors"
	"testing"
)

// attributed is what comes before a query text under QUERY_ATTRIBUTES: an int, a text, a NULL and a time.
func attributed() []byte {
	b := []byte{4, 1, 0b0100, 1}
	for i, kind := range []byte{TypeLongLong, TypeVarString, TypeVarString, 0x0c} {
		b = appendLenencString(append(b, kind, 0), []string{"traceparent", "", "nothing", "since"}[i])
	}
	b = append(b, 1, 2, 3, 4, 5, 6, 7, 8)
	b = appendLenencString(b, "a text")
	return append(b, 4, 0xea, 7, 1, 2)
}

// commandOf reads one command of a client with these capabilities.
func commandOf(t *testing.T, caps uint32, payload []byte) *Conn {
	t.Helper()
	c := NewConn(&memConn{in: frame(0, payload)})
	c.Capabilities = caps
	if _, err := c.ReadCommand(); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestQueryText(t *testing.T) {
	block := attributed()
	for name, tt := range map[string]struct {
		caps    uint32
		payload string
		want    string
		bad     bool
	}{
		"not negotiated":         {0, "\x03SELECT 1", "SELECT 1", false},
		"none":                   {CapQueryAttributes, "\x03\x00\x01SELECT 1", "SELECT 1", false},
		"several":                {CapQueryAttributes, "\x03" + string(block) + "SELECT 1", "SELECT 1", false},
		"another command":        {CapQueryAttributes, "\x02shop", "shop", false},
		"cut short":              {CapQueryAttributes, "\x03" + string(block[:len(block)-1]), "", true},
		"two sets":               {CapQueryAttributes, "\x03\x00\x02SELECT 1", "", true},
		"no types":               {CapQueryAttributes, "\x03\x01\x01\x00\x00\x08\x00\x00SELECT 1", "", true},
		"more than there can be": {CapQueryAttributes, "\x03\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01SELECT 1", "", true},
		"nothing at all":         {CapQueryAttributes, "\x03", "", true},
	} {
		c := commandOf(t, tt.caps, []byte(tt.payload))
		got, err := c.QueryText()
		if string(got) != tt.want || errors.Is(err, ErrMalformedPacket) != tt.bad {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestRelayKeepsAttributes(t *testing.T) {
	command := append(append([]byte{ComQuery}, attributed()...), "SELECT old"...)
	rewritten := append(append([]byte{ComQuery}, attributed()...), "SELECT new"...)
	for _, text := range [][]byte{nil, []byte("SELECT new")} {
		want := command
		if text != nil {
			want = rewritten
		}
		_, sent, _, err := exchange(t, CapQueryAttributes, frame(0, command), frame(1, okPacket(OK{})), Request{Text: text}, 0)
		if err != nil || !bytes.Equal(sent, frame(0, want)) {
			t.Errorf("backend got %q, want %q, %v", sent, want, err)
		}
	}
	// The rest of a large one is dropped over the buffer that its beginning is in.
	large := append(bytes.Clone(command), make([]byte, 100_000)...)
	_, sent, _, err := exchange(t, CapQueryAttributes, frame(0, large), frame(1, okPacket(OK{})), Request{Text: []byte("SELECT new")}, 0)
	if err != nil || !bytes.Equal(sent, frame(0, rewritten)) {
		t.Errorf("backend got %q, %v", sent, err)
	}
	if _, sent, _, err := exchange(t, CapQueryAttributes, frame(0, []byte{ComQuery}), nil, Request{Text: []byte("x")}, 0); !errors.Is(err, ErrUnsupported) || len(sent) > 0 {
		t.Errorf("malformed attributes: %v, backend got %q", err, sent)
	}
	bn := &memConn{in: frame(1, okPacket(OK{}))}
	backend := NewConn(bn)
	backend.Capabilities = CapQueryAttributes
	if _, err := backend.Exec(ComQuery, []byte("SET x")); err != nil || !bytes.Equal(bn.out.Bytes(), frame(0, []byte("\x03\x00\x01SET x"))) {
		t.Errorf("own statement: %q, %v", bn.out.Bytes(), err)
	}
}

func TestExecution(t *testing.T) {
	head := func(flags byte) string { return "\x17\x01\x00\x00\x00" + string([]byte{flags}) + "\x01\x00\x00\x00" }
	for name, tt := range map[string]struct {
		caps    uint32
		params  int
		payload string
		want    Execution
		bad     bool
	}{
		"no parameters":                   {0, 0, head(0), Execution{}, false},
		"types":                           {0, 2, head(0) + "\x00\x01\x08\x00\xfd\x00values", Execution{2, 11, true, []byte("\x08\x00\xfd\x00")}, false},
		"no types":                        {0, 2, head(0) + "\x00\x00values", Execution{2, 11, false, nil}, false},
		"nine parameters":                 {0, 9, head(0) + "\x00\x00\x00", Execution{9, 12, false, nil}, false},
		"no attributes":                   {CapQueryAttributes, 0, head(0), Execution{}, false},
		"none counted":                    {CapQueryAttributes, 0, head(8) + "\x00", Execution{}, false},
		"attributes alone":                {CapQueryAttributes, 0, head(8) + "\x01\x00\x01\x08\x00\x01aV", Execution{1, 12, true, []byte("\x08\x00\x01a")}, false},
		"parameter and attribute":         {CapQueryAttributes, 1, head(8) + "\x02\x00\x01\x08\x00\x00\xfd\x00\x01aV", Execution{2, 12, true, []byte("\x08\x00\x00\xfd\x00\x01a")}, false},
		"parameter without attributes":    {CapQueryAttributes, 1, head(0) + "\x01\x00\x00V", Execution{1, 12, false, nil}, false},
		"types cut short":                 {0, 2, head(0) + "\x00\x01\x08\x00\xfd", Execution{}, true},
		"names cut short":                 {CapQueryAttributes, 1, head(8) + "\x01\x00\x01\x08\x00\x05a", Execution{}, true},
		"bitmap cut short":                {0, 9, head(0) + "\x00", Execution{}, true},
		"head cut short":                  {0, 0, "\x17\x01\x00\x00", Execution{}, true},
		"more parameters than there are ": {CapQueryAttributes, 1, head(8) + "\xfe\xff\xff\xff\xff\xff\xff\xff\xff", Execution{}, true},
	} {
		c := commandOf(t, tt.caps, []byte(tt.payload))
		got, err := c.Execution(tt.params)
		if got.Params != tt.want.Params || got.Flag != tt.want.Flag || got.Bound != tt.want.Bound || !bytes.Equal(got.Types, tt.want.Types) ||
			errors.Is(err, ErrMalformedPacket) != tt.bad {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// FuzzReadCommand reads arbitrary bytes as a client's commands and relays each to a server that answers with OK or nothing.
func FuzzReadCommand(f *testing.F) {
	f.Add(append(frame(0, append(append([]byte{ComQuery}, attributed()...), "SELECT 1"...)), frame(0, []byte{ComQuit})...), CapQueryAttributes, uint16(2), uint8(0), uint16(0), false)
	f.Add(frame(0, []byte("\x17\x01\x00\x00\x00\x08\x01\x00\x00\x00\x01\x00\x01\x08\x00\x01aV")), CapQueryAttributes, uint16(1), uint8(3), uint16(0), true)
	f.Add([]byte{0x40, 0x9c, 0, 0, ComStmtSendLongData}, uint32(0), uint16(0), uint8(0), uint16(0x9c3f), true)
	f.Add([]byte{0xff, 0xff, 0xff, 0, ComQuery}, uint32(0), uint16(0), uint8(0), uint16(40_000), true)
	f.Fuzz(func(t *testing.T, in []byte, caps uint32, params uint16, chunk uint8, zeros uint16, rewrite bool) {
		in = append(bytes.Clone(in), make([]byte, zeros)...)
		client := NewConn(&memConn{in: in, chunk: int(chunk), discard: true})
		client.Capabilities = caps &^ CapSessionTrack
		read := 0
		for range 20 {
			cmd, err := client.ReadCommand()
			if err != nil {
				return
			}
			read += headerSize + len(cmd.Payload)
			if read > len(in) {
				t.Fatalf("%d bytes of commands in %d", read, len(in))
			}
			if text, err := client.QueryText(); err == nil && len(text) > len(cmd.Payload) {
				t.Fatal("text of more than there is")
			}
			if e, err := client.Execution(int(params)); err == nil && e.Params > 0 && e.Flag+1+len(e.Types) > len(cmd.Payload) {
				t.Fatalf("%+v in %d bytes", e, len(cmd.Payload))
			}
			req := Request{StatementID: 5}
			if rewrite {
				req.Text = []byte("another")
			}
			backend := NewConn(&memConn{in: frame(1, okPacket(OK{})), discard: true})
			backend.Capabilities = client.Capabilities
			if _, err := Relay(client, backend, req); err == nil && (cmd.left > 0 || cmd.more) {
				t.Fatal("a relayed command was not sent whole")
			}
		}
	})
}
