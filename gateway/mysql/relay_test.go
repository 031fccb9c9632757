package mysql

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// exchange relays one command between two scripted connections.
func exchange(t *testing.T, caps uint32, command, response []byte, req Request, chunk int) (out Outcome, sent, got []byte, err error) {
	t.Helper()
	cn, bn := &memConn{in: command, chunk: chunk}, &memConn{in: response, chunk: chunk}
	client, backend := NewConn(cn), NewConn(bn)
	client.Capabilities, backend.Capabilities = caps&^CapSessionTrack, caps
	if _, err := client.ReadCommand(); err != nil {
		t.Fatalf("read the command: %v", err)
	}
	out, err = Relay(client, backend, req)
	return out, bn.out.Bytes(), cn.out.Bytes(), err
}

func okPacket(ok OK) []byte { return appendOK(nil, headOK, ok) }

// trackedOK is an OK packet under SESSION_TRACK.
func trackedOK(head byte, status uint16, info string, block []byte) []byte {
	b := []byte{head, 3, 7}
	b = append(b, byte(status), byte(status>>8), 2, 0)
	b = appendLenencString(b, info)
	if status&StatusSessionStateChanged != 0 {
		b = appendLenencString(b, block)
	}
	return b
}

func trackEntry(kind byte, values ...string) []byte {
	return appendLenencString([]byte{kind}, row(values...))
}

func TestRelayResponses(t *testing.T) {
	const more = StatusMoreResultsExists
	errPacket := appendErr(nil, NewError(1146, "42S02", "Table 'a.b' doesn't exist"))
	block := append(trackEntry(trackVariables, "autocommit", "OFF"), trackEntry(trackSchema, "shop")...)
	block = append(block, trackEntry(trackTransaction, "T_______")...)
	block = append(block, trackEntry(trackState, "1")...)
	prepareOK := []byte{0, 9, 0, 0, 0, 1, 0, 2, 0, 0, 3, 0}

	tests := []struct {
		name       string
		command    []byte
		caps       uint32
		response   [][]byte
		want       [][]byte // nil: as sent by the server.
		check      func(Outcome) bool
		statementT uint32
	}{
		{
			name: "ok", command: []byte("\x03SET x"),
			response: [][]byte{okPacket(OK{AffectedRows: 300, LastInsertID: 1 << 40, Status: StatusAutocommit, Warnings: 4, Info: "hello"})},
			check: func(o Outcome) bool {
				return o.AffectedRows == 300 && o.LastInsertID == 1<<40 && o.StatusKnown && o.Status == StatusAutocommit && o.Warnings == 4 && o.Results == 1
			},
		},
		{
			name: "error", command: []byte("\x03x"), response: [][]byte{errPacket},
			check: func(o Outcome) bool {
				return o.Err != nil && o.Err.Code == 1146 && o.Err.State == "42S02" && strings.HasPrefix(o.Err.Message, "Table") && !o.StatusKnown
			},
		},
		{
			name: "classic rows", command: []byte("\x03x"),
			response: [][]byte{{2}, column("a"), column("b"), appendEOF(nil, 2, 0), row("1", "2"), {0xfb, 0xfb}, appendEOF(nil, StatusInTrans, 1)},
			check:    func(o Outcome) bool { return o.Rows == 2 && o.InTransaction() && o.Warnings == 1 },
		},
		{
			name: "rows under DEPRECATE_EOF", command: []byte("\x03x"), caps: CapDeprecateEOF,
			response: [][]byte{{1}, column("a"), row("1"), appendOK(nil, headEOF, OK{Status: StatusAutocommit, Warnings: 1, Info: "a longer text than nine bytes"})},
			check:    func(o Outcome) bool { return o.Rows == 1 && o.Status == StatusAutocommit && o.Warnings == 1 },
		},
		{
			name: "a row that looks like an EOF", command: []byte("\x03x"),
			response: [][]byte{{1}, column("a"), appendEOF(nil, 2, 0), append([]byte{headEOF}, make([]byte, 20)...), appendEOF(nil, 2, 0)},
			check:    func(o Outcome) bool { return o.Rows == 1 },
		},
		{
			name: "an error among the rows", command: []byte("\x03x"),
			response: [][]byte{{1}, column("a"), appendEOF(nil, 2, 0), row("1"), errPacket},
			check:    func(o Outcome) bool { return o.Rows == 1 && o.Err != nil && !o.StatusKnown },
		},
		{
			name: "multi-results up to an error", command: []byte("\x03x"),
			response: [][]byte{
				okPacket(OK{Status: more}),
				{1},
				column("a"), appendEOF(nil, more, 0), row("1"), appendEOF(nil, more, 0),
				errPacket,
			},
			check: func(o Outcome) bool { return o.Results == 3 && o.Err != nil },
		},
		{
			name: "multi-results under DEPRECATE_EOF", command: []byte("\x03x"), caps: CapDeprecateEOF,
			response: [][]byte{
				{1},
				column("a"), row("1"), appendOK(nil, headEOF, OK{Status: more}),
				{1},
				column("a"), appendOK(nil, headEOF, OK{Status: more}),
				okPacket(OK{AffectedRows: 5}),
			},
			check: func(o Outcome) bool { return o.Results == 3 && o.AffectedRows == 5 },
		},
		{
			name: "cursor", command: []byte("\x17\x01\x00\x00\x00\x01\x01\x00\x00\x00"),
			response: [][]byte{{1}, column("a"), appendEOF(nil, StatusCursorExists, 0)},
			check:    func(o Outcome) bool { return o.Rows == 0 && o.Status&StatusCursorExists != 0 },
		},
		{
			name: "cursor under DEPRECATE_EOF", command: []byte("\x17\x01\x00\x00\x00\x01\x01\x00\x00\x00"), caps: CapDeprecateEOF,
			response: [][]byte{{1}, column("a"), appendOK(nil, headEOF, OK{Status: StatusCursorExists})},
			check:    func(o Outcome) bool { return o.Status&StatusCursorExists != 0 },
		},
		{
			name: "binary rows begin with NUL", command: []byte("\x17\x01\x00\x00\x00\x00\x01\x00\x00\x00"),
			response: [][]byte{{1}, column("a"), appendEOF(nil, 2, 0), {0, 0, 5}, appendEOF(nil, 2, 0)},
			check:    func(o Outcome) bool { return o.Rows == 1 },
		},
		{
			name: "fetch", command: []byte("\x1c\x01\x00\x00\x00\x01\x00\x00\x00"),
			response: [][]byte{{0, 0, 5}, appendEOF(nil, StatusLastRowSent, 0)},
			check:    func(o Outcome) bool { return o.Rows == 1 && o.Status == StatusLastRowSent },
		},
		{
			name: "prepare", command: []byte("\x16select ?, ?"),
			response: [][]byte{prepareOK, column("?"), column("?"), appendEOF(nil, 2, 0), column("a"), appendEOF(nil, 2, 0)},
			check: func(o Outcome) bool {
				return o.Prepared == Prepared{OK: true, ID: 9, Columns: 1, Params: 2} && o.Warnings == 3 && !o.StatusKnown
			},
		},
		{
			name: "prepare under DEPRECATE_EOF with another id", command: []byte("\x16select ?, ?"), caps: CapDeprecateEOF, statementT: 0x01020304,
			response: [][]byte{prepareOK, column("?"), column("?"), column("a")},
			want:     [][]byte{{0, 4, 3, 2, 1, 1, 0, 2, 0, 0, 3, 0}, column("?"), column("?"), column("a")},
			check:    func(o Outcome) bool { return o.Prepared.ID == 9 },
		},
		{
			name: "prepare without parameters and columns", command: []byte("\x16do 1"),
			response: [][]byte{{0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
			check:    func(o Outcome) bool { return o.Prepared.OK },
		},
		{name: "prepare refused", command: []byte("\x16x"), response: [][]byte{errPacket}, check: func(o Outcome) bool { return o.Err != nil && !o.Prepared.OK }},
		{name: "field list", command: []byte("\x04t\x00"), response: [][]byte{column("a"), column("b"), appendEOF(nil, 2, 0)}},
		{name: "field list refused", command: []byte("\x04t\x00"), response: [][]byte{errPacket}, check: func(o Outcome) bool { return o.Err != nil }},
		{name: "statistics", command: []byte("\x09"), response: [][]byte{[]byte("Uptime: 5")}, check: func(o Outcome) bool { return !o.StatusKnown }},
		{name: "ping", command: []byte("\x0e"), response: [][]byte{okPacket(OK{Status: 2})}, check: func(o Outcome) bool { return o.StatusKnown }},
		{name: "set option", command: []byte("\x1b\x00\x00"), response: [][]byte{appendEOF(nil, 2, 0)}, check: func(o Outcome) bool { return o.Status == 2 }},
		{name: "close", command: []byte("\x19\x01\x00\x00\x00"), check: func(o Outcome) bool { return !o.FirstByteSent }},
		{name: "long data", command: []byte("\x18\x01\x00\x00\x00\x00\x00abc")},
		{
			name: "session state is taken off", command: []byte("\x03x"), caps: CapSessionTrack,
			response: [][]byte{trackedOK(headOK, StatusSessionStateChanged|StatusInTrans, "info", block)},
			want:     [][]byte{okPacket(OK{AffectedRows: 3, LastInsertID: 7, Status: StatusInTrans, Warnings: 2, Info: "info"})},
			check: func(o Outcome) bool {
				return o.Status == StatusInTrans && o.Track != nil && *o.Track.Schema == "shop" && o.Track.StateChanged &&
					o.Track.TransactionState == "T_______" && len(o.Track.Variables) == 1 && o.Track.Variables[0] == Variable{"autocommit", "OFF"}
			},
		},
		{
			name: "that it changed is not said by an EOF", command: []byte("\x03x"), caps: CapSessionTrack,
			response: [][]byte{
				{1},
				column("a"), appendEOF(nil, StatusSessionStateChanged|2, 0), row("1"), appendEOF(nil, StatusSessionStateChanged|2, 1),
			},
			want:  [][]byte{{1}, column("a"), appendEOF(nil, 2, 0), row("1"), appendEOF(nil, 2, 1)},
			check: func(o Outcome) bool { return o.Status == 2 && o.Warnings == 1 && o.Rows == 1 },
		},
		{
			name: "info alone stays", command: []byte("\x03x"), caps: CapSessionTrack,
			response: [][]byte{trackedOK(headOK, more, "Records: 1", nil), okPacket(OK{Info: ""})},
			want: [][]byte{
				okPacket(OK{AffectedRows: 3, LastInsertID: 7, Status: more, Warnings: 2, Info: "Records: 1"}), okPacket(OK{}),
			},
			check: func(o Outcome) bool { return o.Track == nil && o.Results == 2 },
		},
		{
			name: "session state after rows", command: []byte("\x03x"), caps: CapSessionTrack | CapDeprecateEOF,
			response: [][]byte{{1}, column("a"), row("1"), trackedOK(headEOF, StatusSessionStateChanged, "", block)},
			want:     [][]byte{{1}, column("a"), row("1"), appendOK(nil, headEOF, OK{AffectedRows: 3, LastInsertID: 7, Warnings: 2})},
			check:    func(o Outcome) bool { return o.Track != nil },
		},
		{
			name: "session state larger than the buffer", command: []byte("\x03x"), caps: CapSessionTrack,
			response: [][]byte{
				trackedOK(headOK, StatusSessionStateChanged|more, "i", trackEntry(trackVariables, "v", strings.Repeat("x", 50_000))),
				okPacket(OK{}),
			},
			want: [][]byte{
				okPacket(OK{AffectedRows: 3, LastInsertID: 7, Status: more, Warnings: 2, Info: "i"}), okPacket(OK{}),
			},
			check: func(o Outcome) bool { return len(o.Track.Variables[0].Value) == 50_000 && o.Results == 2 },
		},
	}
	for _, tt := range tests {
		for _, chunk := range []int{0, 1, 7} {
			t.Run(tt.name, func(t *testing.T) {
				out, sent, got, err := exchange(t, tt.caps, frame(0, tt.command), frame(1, tt.response...), Request{StatementID: tt.statementT}, chunk)
				if err != nil {
					t.Fatal(err)
				}
				want := tt.want
				if want == nil {
					want = tt.response
				}
				if !bytes.Equal(got, frame(1, want...)) {
					t.Errorf("client got %q, want %q", got, frame(1, want...))
				}
				if !bytes.Equal(sent, frame(0, tt.command)) {
					t.Errorf("backend got %q", sent)
				}
				if tt.check != nil && !tt.check(out) {
					t.Errorf("outcome %+v", out)
				}
			})
		}
	}
}

func TestRelayReplacesError(t *testing.T) {
	interrupted := frame(1, appendErr(nil, NewError(1317, "70100", "Query execution was interrupted")))
	rows := append(append(append(frame(1, []byte{1}), frame(2, column("a"))...), frame(3, appendEOF(nil, 2, 0))...), frame(4, row("1"))...)
	late := frame(5, appendErr(nil, NewError(1317, "70100", "Query execution was interrupted")))
	other := NewError(1907, "HY000", "too slow")
	tests := []struct {
		name     string
		response []byte
		want     []byte
	}{
		{"alone", interrupted, frame(1, appendErr(nil, other))},
		{"after rows", append(bytes.Clone(rows), late...), append(bytes.Clone(rows), frame(5, appendErr(nil, other))...)},
	}
	for _, tt := range tests {
		for _, chunk := range []int{1, 7, 1 << 20} {
			req := Request{OnError: func(e *Error) *Error {
				if e.Code == 1317 {
					return other
				}
				return e
			}}
			out, _, got, err := exchange(t, 0, frame(0, []byte("\x03SELECT SLEEP(9)")), bytes.Clone(tt.response), req, chunk)
			if err != nil || out.Err == nil || out.Err.Code != 1317 || !bytes.Equal(got, tt.want) {
				t.Errorf("%s, chunks of %d: %v, %v, client got %q, want %q", tt.name, chunk, out.Err, err, got, tt.want)
			}
		}
	}
}

func TestRelayWritesOnce(t *testing.T) {
	response := frame(1, []byte{1}, column("a"), appendEOF(nil, 2, 0), row("1"), appendEOF(nil, 2, 0))
	cn, bn := &memConn{in: frame(0, []byte("\x03x"))}, &memConn{in: response}
	client, backend := NewConn(cn), NewConn(bn)
	if _, err := client.ReadCommand(); err != nil {
		t.Fatal(err)
	}
	if _, err := Relay(client, backend, Request{}); err != nil {
		t.Fatal(err)
	}
	if cn.writes != 1 || bn.writes != 1 {
		t.Errorf("%d writes to the client, %d to the backend", cn.writes, bn.writes)
	}
}

func TestRelayInfile(t *testing.T) {
	command := []byte("\x03LOAD DATA LOCAL INFILE 'f' INTO TABLE t; LOAD DATA LOCAL INFILE 'g' INTO TABLE t")
	big := bytes.Repeat([]byte{ComInitDB}, 100_000) // Content must never be taken for commands.
	var in []byte
	in = append(in, frame(0, command)...)
	in = append(in, frame(2, big, []byte("x"), nil)...)
	in = append(in, frame(7, nil)...)
	in = append(in, frame(0, []byte{ComPing})...)
	var response []byte
	response = append(response, frame(1, append([]byte{headInfile}, 'f'))...)
	response = append(response, frame(5, okPacket(OK{AffectedRows: 9, Status: StatusMoreResultsExists}))...)
	response = append(response, frame(6, append([]byte{headInfile}, 'g'))...)
	response = append(response, frame(8, appendErr(nil, NewError(1, "HY000", "no")))...)

	cn, bn := &memConn{in: in, chunk: 999}, &memConn{in: response}
	client, backend := NewConn(cn), NewConn(bn)
	if _, err := client.ReadCommand(); err != nil {
		t.Fatal(err)
	}
	out, err := Relay(client, backend, Request{})
	if err != nil {
		t.Fatal(err)
	}
	if out.Err == nil || out.AffectedRows != 9 {
		t.Errorf("outcome %+v", out)
	}
	want := append(append(frame(0, command), frame(2, big, []byte("x"), nil)...), frame(7, nil)...)
	if !bytes.Equal(bn.out.Bytes(), want) {
		t.Error("the backend got another stream than the client sent")
	}
	if !bytes.Equal(cn.out.Bytes(), response) {
		t.Errorf("client got %q", cn.out.Bytes())
	}
	if cmd, err := client.ReadCommand(); err != nil || cmd.Code != ComPing {
		t.Errorf("next command %v, %v", cmd, err)
	}
}

func TestRelaySizes(t *testing.T) {
	for size := MaxFragment - 5; size <= MaxFragment+1; size++ {
		command := make([]byte, size)
		command[0] = ComQuery
		value := bytes.Repeat([]byte("v"), size)
		response := frame(byte(len(frame(0, command))-len(command))/headerSize, []byte{1}, column("a"), appendEOF(nil, 2, 0), value, appendEOF(nil, 2, 0))
		out, sent, got, err := exchange(t, 0, frame(0, command), response, Request{}, 0)
		if err != nil || out.Rows != 1 {
			t.Fatalf("size %d: %v, %+v", size, err, out)
		}
		if !bytes.Equal(sent, frame(0, command)) || !bytes.Equal(got, response) {
			t.Errorf("size %d: streams differ", size)
		}
	}
}

func TestRelayGathered(t *testing.T) {
	for _, size := range []int{100, 40_000, MaxFragment, MaxFragment + 70_000} {
		for _, limit := range []int{1000, 50_000, MaxFragment, MaxFragment + 5, 2 * MaxFragment} {
			command := make([]byte, size)
			command[0], command[size-1] = ComQuery, 9
			cn := &memConn{in: append(frame(0, command), frame(0, []byte{ComPing})...), chunk: 100_000}
			fragments := byte(size/MaxFragment + 1)
			client := NewConn(cn)
			cmd, err := client.ReadCommand()
			if err != nil {
				t.Fatal(err)
			}
			if err := client.Gather(limit); err != nil {
				t.Fatal(err)
			}
			if len(cmd.Payload) < min(limit, size) || !bytes.Equal(cmd.Payload, command[:len(cmd.Payload)]) {
				t.Errorf("size %d, limit %d: payload of %d bytes", size, limit, len(cmd.Payload))
			}
			bn := &memConn{in: frame(fragments, okPacket(OK{}))}
			if _, err := Relay(client, NewConn(bn), Request{}); err != nil {
				t.Fatalf("size %d, limit %d: %v", size, limit, err)
			}
			if !bytes.Equal(bn.out.Bytes(), frame(0, command)) {
				t.Errorf("size %d, limit %d: the backend got another command", size, limit)
			}
			if cmd.Replayable() != cmd.Complete {
				t.Errorf("size %d, limit %d: replayable %v", size, limit, cmd.Replayable())
			}
			if cmd, err := client.ReadCommand(); err != nil || cmd.Code != ComPing {
				t.Errorf("next command %v, %v", cmd, err)
			}
		}
	}
}

func TestRelayRewritten(t *testing.T) {
	tests := []struct{ was, text int }{{10, 20}, {10, MaxFragment - 1}, {10, 2 * MaxFragment}, {MaxFragment, 5}, {100_000, 5}}
	for _, tt := range tests {
		command := make([]byte, tt.was)
		command[0] = ComQuery
		text := bytes.Repeat([]byte("t"), tt.text)
		rewritten := append([]byte{ComQuery}, text...)
		was, now := byte(tt.was/MaxFragment+1), byte((tt.text+1)/MaxFragment+1)
		response := [][]byte{{1}, column("a"), appendEOF(nil, 2, 0), row("1"), appendEOF(nil, 2, 0)}
		_, sent, got, err := exchange(t, 0, frame(0, command), frame(now, response...), Request{Text: text}, 0)
		if err != nil {
			t.Fatalf("%+v: %v", tt, err)
		}
		if !bytes.Equal(sent, frame(0, rewritten)) {
			t.Errorf("%+v: the backend got another text", tt)
		}
		if !bytes.Equal(got, frame(was, response...)) {
			t.Errorf("%+v: client got %q", tt, got)
		}
	}
}

func TestRelayBroken(t *testing.T) {
	head := frame(1, []byte{1}, column("a"), appendEOF(nil, 2, 0), row("1"))
	farewell := frame(0, appendErr(nil, NewError(4031, "HY000", "The client was disconnected by the server because of inactivity.")))
	tests := []struct {
		name     string
		response []byte
		sent     bool
		cause    error
		told     uint16
	}{
		{"nothing came", nil, false, io.ErrUnexpectedEOF, 0},
		{"half a header came", []byte{1, 0}, false, io.ErrUnexpectedEOF, 0},
		{"half a packet came", []byte{50, 0, 0, 1, 0, 0}, false, io.ErrUnexpectedEOF, 0},
		{"rows stop", head, true, io.ErrUnexpectedEOF, 0},
		{"farewell of an idle connection", farewell, false, nil, 4031},
		{"wrong number", frame(2, okPacket(OK{})), false, ErrOutOfOrder, 0},
		{"wrong number among rows", append(bytes.Clone(head), frame(9, row("2"))...), false, ErrOutOfOrder, 0},
		{"empty first packet", frame(1, nil), false, ErrMalformedPacket, 0},
		{"column count of NULL", frame(1, make([]byte, 30)[:0], nil), false, ErrMalformedPacket, 0},
		{"OK cut short", frame(1, []byte{0, 0}), false, ErrMalformedPacket, 0},
		{"error cut short", frame(1, []byte{0xff, 0}), false, ErrMalformedPacket, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, _, _, err := exchange(t, 0, frame(0, []byte("\x03x")), tt.response, Request{}, 0)
			var side *SideError
			if !errors.As(err, &side) || side.Side != SideBackend {
				t.Fatalf("error %v", err)
			}
			if tt.cause != nil && !errors.Is(err, tt.cause) {
				t.Errorf("error %v, want %v", err, tt.cause)
			}
			var told *Error
			if tt.told != 0 && (!errors.As(err, &told) || told.Code != tt.told) {
				t.Errorf("error %v, want code %d", err, tt.told)
			}
			if out.FirstByteSent != tt.sent {
				t.Errorf("FirstByteSent %v", out.FirstByteSent)
			}
		})
	}
	t.Run("client gone", func(t *testing.T) {
		cn := &memConn{in: frame(0, []byte("\x03x")), writeErr: io.ErrClosedPipe}
		client, backend := NewConn(cn), NewConn(&memConn{in: frame(1, okPacket(OK{}))})
		if _, err := client.ReadCommand(); err != nil {
			t.Fatal(err)
		}
		_, err := Relay(client, backend, Request{})
		var side *SideError
		if !errors.As(err, &side) || side.Side != SideClient || !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("backend refuses a large command half-way", func(t *testing.T) {
		cn := &memConn{in: append(frame(0, make([]byte, 100_000)), frame(0, []byte{ComPing})...)}
		cn.in[headerSize] = ComQuery
		refusal := NewError(CodePacketTooLarge, "08S01", "Got a packet bigger than 'max_allowed_packet' bytes")
		client := NewConn(cn)
		backend := NewConn(&memConn{in: frame(1, appendErr(nil, refusal)), writeErr: io.ErrClosedPipe, goodWrites: 2})
		cmd, err := client.ReadCommand()
		if err != nil {
			t.Fatal(err)
		}
		out, err := Relay(client, backend, Request{})
		var side *SideError
		if !errors.As(err, &side) || side.Side != SideBackend || cmd.Replayable() {
			t.Errorf("error %v, replayable %v", err, cmd.Replayable())
		}
		if !out.FirstByteSent || out.Err == nil || out.Err.Code != CodePacketTooLarge {
			t.Errorf("outcome %+v", out)
		}
		if want := frame(1, appendErr(nil, refusal)); !bytes.Equal(cn.out.Bytes(), want) {
			t.Errorf("client got %q, want %q", cn.out.Bytes(), want)
		}
	})
}

// TestRelayRefusedLongData has a server that refuses what has no response: the client must not get one.
func TestRelayRefusedLongData(t *testing.T) {
	cn := &memConn{in: frame(0, append([]byte{ComStmtSendLongData}, make([]byte, 100_000)...))}
	refusal := frame(1, appendErr(nil, NewError(CodePacketTooLarge, "08S01", "Got a packet bigger than 'max_allowed_packet' bytes")))
	client, backend := NewConn(cn), NewConn(&memConn{in: refusal, writeErr: io.ErrClosedPipe, goodWrites: 2})
	if _, err := client.ReadCommand(); err != nil {
		t.Fatal(err)
	}
	out, err := Relay(client, backend, Request{})
	var told *Error
	if !errors.As(err, &told) || told.Code != CodePacketTooLarge || out.FirstByteSent || cn.out.Len() > 0 {
		t.Errorf("%v, %+v, client got %q", err, out, cn.out.Bytes())
	}
}

func TestRelayAgainElsewhere(t *testing.T) {
	farewell := frame(0, appendErr(nil, NewError(4031, "HY000", "Timeout")))
	for name, first := range map[string]*memConn{
		"hung up":       {},
		"said farewell": {in: farewell},
		"takes nothing": {writeErr: io.ErrClosedPipe},
	} {
		for _, size := range []int{20, bufferSize - headerSize, 100_000} {
			command := bytes.Repeat([]byte{ComQuery}, size)
			cn := &memConn{in: frame(0, command)}
			client := NewConn(cn)
			cmd, err := client.ReadCommand()
			if err != nil {
				t.Fatal(err)
			}
			if err := client.Gather(size); err != nil {
				t.Fatal(err)
			}
			if out, err := Relay(client, NewConn(first), Request{}); err == nil || out.FirstByteSent || !cmd.Replayable() {
				t.Fatalf("%s: %v, %+v", name, err, out)
			}
			second := &memConn{in: frame(1, okPacket(OK{}))}
			if _, err := Relay(client, NewConn(second), Request{}); err != nil {
				t.Errorf("%s: again: %v", name, err)
			}
			if !bytes.Equal(second.out.Bytes(), frame(0, command)) || !bytes.Equal(cn.out.Bytes(), frame(1, okPacket(OK{}))) {
				t.Errorf("%s: the second server or the client got something else", name)
			}
		}
	}
}

func TestRelayUnsupported(t *testing.T) {
	for _, command := range [][]byte{{}, {ComSleep}, {ComBinlogDump}, {ComRegisterReplica}, {ComChangeUser}, {ComDaemon}, {0xfa}} {
		_, sent, got, err := exchange(t, 0, frame(0, command), nil, Request{}, 0)
		if !errors.Is(err, ErrUnsupported) || len(sent)+len(got) > 0 {
			t.Errorf("command %v: %v, %d bytes", command, err, len(sent)+len(got))
		}
	}
}

func TestRelayTenThousandRowsAllocateNothing(t *testing.T) {
	payloads := [][]byte{{2}, column("a"), column("b"), appendEOF(nil, 2, 0)}
	for range 10_000 {
		payloads = append(payloads, row(strings.Repeat("x", 90), strings.Repeat("y", 90)))
	}
	response := frame(1, append(payloads, appendEOF(nil, 2, 0))...)
	command := frame(0, []byte("\x03SELECT a, b FROM t"))
	cn, bn := &memConn{discard: true}, &memConn{discard: true}
	client, backend := NewConn(cn), NewConn(bn)
	allocs := testing.AllocsPerRun(10, func() {
		cn.in, bn.in = command, response
		if _, err := client.ReadCommand(); err != nil {
			t.Fatal(err)
		}
		if out, err := Relay(client, backend, Request{}); err != nil || out.Rows != 10_000 {
			t.Fatal(out.Rows, err)
		}
	})
	if allocs > 0 {
		t.Errorf("%v allocations for a statement with 10,000 rows", allocs)
	}
}

func BenchmarkRelayPointSelect(b *testing.B) {
	response := frame(1, []byte{1}, column("a"), appendEOF(nil, 2, 0), row("1"), appendEOF(nil, 2, 0))
	command := frame(0, []byte("\x03SELECT a FROM t WHERE id = 1"))
	cn, bn := &memConn{discard: true}, &memConn{discard: true}
	client, backend := NewConn(cn), NewConn(bn)
	b.ReportAllocs()
	for b.Loop() {
		cn.in, bn.in = command, response
		if _, err := client.ReadCommand(); err != nil {
			b.Fatal(err)
		}
		if _, err := Relay(client, backend, Request{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRelayTenThousandRows(b *testing.B) {
	payloads := [][]byte{{1}, column("a"), appendEOF(nil, 2, 0)}
	for range 10_000 {
		payloads = append(payloads, row(strings.Repeat("x", 180)))
	}
	response := frame(1, append(payloads, appendEOF(nil, 2, 0))...)
	command := frame(0, []byte("\x03SELECT a FROM t"))
	cn, bn := &memConn{discard: true}, &memConn{discard: true}
	client, backend := NewConn(cn), NewConn(bn)
	b.SetBytes(int64(len(response)))
	b.ReportAllocs()
	for b.Loop() {
		cn.in, bn.in = command, response
		if _, err := client.ReadCommand(); err != nil {
			b.Fatal(err)
		}
		if _, err := Relay(client, backend, Request{}); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzRelay answers commands with arbitrary bytes, of a server and of a client that is asked for a file.
func FuzzRelay(f *testing.F) {
	f.Add(ComQuery, uint32(0), frame(1, okPacket(OK{Info: "x"})), []byte{}, uint8(0))
	f.Add(ComQuery, CapDeprecateEOF, frame(1, []byte{1}, column("a"), row("1"), appendOK(nil, headEOF, OK{})), []byte{}, uint8(3))
	f.Add(ComQuery, CapSessionTrack, frame(1, trackedOK(headOK, StatusSessionStateChanged, "i", trackEntry(trackSchema, "s"))), []byte{}, uint8(0))
	f.Add(ComQuery, uint32(0), frame(1, []byte{headInfile, 'f'}), frame(2, []byte("abc"), nil), uint8(1))
	f.Add(ComStmtPrepare, uint32(0), frame(1, []byte{0, 9, 0, 0, 0, 1, 0, 2, 0, 0, 3, 0}, column("?")), []byte{}, uint8(0))
	f.Add(ComFieldList, uint32(0), frame(1, column("?"), appendEOF(nil, 0, 0)), []byte{}, uint8(0))
	f.Add(ComStatistics, uint32(0), frame(1, appendErr(nil, NewError(1, "HY000", ""))), []byte{}, uint8(0))
	f.Fuzz(func(t *testing.T, code byte, caps uint32, response, file []byte, chunk uint8) {
		cn := &memConn{in: append(frame(0, []byte{code, 'x'}), file...), chunk: int(chunk)}
		bn := &memConn{in: response, chunk: int(chunk)}
		client, backend := NewConn(cn), NewConn(bn)
		client.Capabilities, backend.Capabilities = caps&^CapSessionTrack, caps
		if _, err := client.ReadCommand(); err != nil {
			t.Fatal(err)
		}
		out, err := Relay(client, backend, Request{StatementID: 5})
		if err == nil && cn.out.Len() > len(response) {
			t.Errorf("client got %d bytes of %d", cn.out.Len(), len(response))
		}
		if !out.FirstByteSent && cn.out.Len() > 0 {
			t.Error("the client got bytes that the outcome does not know of")
		}
		bn.in = response
		backend = NewConn(bn)
		backend.Capabilities = caps
		_, _ = backend.Exec(code, nil)
	})
}
