package mysql

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

func TestReadCommand(t *testing.T) {
	// Commands sent ahead wait their turn; an unread rest of a large one is dropped.
	big := append([]byte{ComStmtPrepare}, make([]byte, MaxFragment+100)...)
	var in []byte
	for _, payload := range [][]byte{{ComPing}, []byte("\x03SELECT 1"), {}, big, make([]byte, bufferSize-headerSize), {ComQuit}} {
		in = append(in, frame(0, payload)...)
	}
	c := NewConn(&memConn{in: in, chunk: 10_000})
	for i, want := range []struct {
		code     byte
		length   int
		complete bool
	}{
		{ComPing, 1, true},
		{ComQuery, 9, true},
		{ComSleep, 0, true},
		{ComStmtPrepare, bufferSize - headerSize, false},
		{ComSleep, bufferSize - headerSize, true},
		{ComQuit, 1, true},
	} {
		cmd, err := c.ReadCommand()
		if err != nil {
			t.Fatalf("command %d: %v", i, err)
		}
		if cmd.Code != want.code || len(cmd.Payload) != want.length || cmd.Complete != want.complete || len(cmd.Arg()) != max(0, want.length-1) {
			t.Errorf("command %d: code %d, %d bytes, complete %v", i, cmd.Code, len(cmd.Payload), cmd.Complete)
		}
	}
	if _, err := c.ReadCommand(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

func TestReadCommandBroken(t *testing.T) {
	for name, tt := range map[string]struct {
		in   []byte
		want error
	}{
		"closed in the header":  {[]byte{1, 0}, io.ErrUnexpectedEOF},
		"closed in the payload": {[]byte{5, 0, 0, 0, 3}, io.ErrUnexpectedEOF},
		"wrong number":          {frame(1, []byte{ComPing}), ErrOutOfOrder},
	} {
		if _, err := NewConn(&memConn{in: tt.in}).ReadCommand(); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	in := frame(0, make([]byte, MaxFragment+10))
	in[headerSize+MaxFragment+3] = 9
	c := NewConn(&memConn{in: in})
	if _, err := c.ReadCommand(); err != nil {
		t.Fatal(err)
	}
	if err := c.Gather(2 * MaxFragment); !errors.Is(err, ErrOutOfOrder) {
		t.Errorf("gather with a wrong number: %v", err)
	}
}

func TestGatherTakesNoMoreThanComes(t *testing.T) {
	c := NewConn(&memConn{in: append([]byte{0xff, 0xff, 0xff, 0, ComQuery}, make([]byte, 40_000)...)})
	if _, err := c.ReadCommand(); err != nil {
		t.Fatal(err)
	}
	if err := c.Gather(MaxFragment); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	if got := cap(c.cmd.gathered); got > 300_000 {
		t.Errorf("room for %d bytes after 40,000 came", got)
	}
}

func TestWaitingHoldsNoStatement(t *testing.T) {
	c := NewConn(&memConn{in: frame(0, append([]byte{ComQuery}, make([]byte, 100_000)...))})
	if _, err := c.ReadCommand(); err != nil {
		t.Fatal(err)
	}
	if err := c.Gather(MaxFragment); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ReadCommand(); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if c.cmd.gathered != nil || c.cmd.Payload != nil {
		t.Error("the last statement is still in memory while the session waits")
	}
}

func TestReplies(t *testing.T) {
	for name, tt := range map[string]struct {
		caps  uint32
		write func(*Conn) error
		want  [][]byte
	}{
		"OK": {
			write: func(c *Conn) error {
				return c.WriteOK(OK{AffectedRows: 251, LastInsertID: 70_000, Status: StatusAutocommit | StatusSessionStateChanged, Warnings: 1, Info: "hi"})
			},
			want: [][]byte{append([]byte{0, 0xfc, 251, 0, 0xfd, 0x70, 0x11, 1, 2, 0, 1, 0, 2}, "hi"...)},
		},
		"error": {
			write: func(c *Conn) error { return c.WriteError(NewError(1064, "42000", "near '%s'", "x")) },
			want:  [][]byte{[]byte("\xff\x28\x04#42000near 'x'")},
		},
		"error without a state": {
			write: func(c *Conn) error { return c.WriteError(&Error{Code: 1105, Message: strings.Repeat("x", 600)}) },
			want:  [][]byte{[]byte("\xff\x51\x04#HY000" + strings.Repeat("x", 512))},
		},
		"EOF": {
			write: func(c *Conn) error { return c.WriteEOF(2, 1) }, want: [][]byte{{0xfe, 1, 0, 2, 0}},
		},
		"EOF under DEPRECATE_EOF": {
			caps: CapDeprecateEOF, write: func(c *Conn) error { return c.WriteEOF(2, 1) }, want: [][]byte{{0xfe, 0, 0, 2, 0, 1, 0}},
		},
		"no rows": {
			write: func(c *Conn) error { return c.WriteResultset([]Column{{Name: "Level"}}, nil, 2, 0) },
			want:  [][]byte{{1}, column("Level"), {0xfe, 0, 0, 2, 0}, {0xfe, 0, 0, 2, 0}},
		},
		"rows under DEPRECATE_EOF": {
			caps: CapDeprecateEOF,
			write: func(c *Conn) error {
				return c.WriteResultset([]Column{{Name: "a"}, {Name: "b"}}, [][][]byte{{[]byte("1"), nil}, {{}, []byte("x")}}, 2, 3)
			},
			want: [][]byte{{2}, column("a"), column("b"), {1, '1', 0xfb}, {0, 1, 'x'}, {0xfe, 0, 0, 2, 0, 3, 0}},
		},
	} {
		// The answer to a command of two packets, the second not read yet, has number 2.
		cn := &memConn{in: append(frame(0, make([]byte, MaxFragment+10)), frame(0, []byte{ComPing})...)}
		c := NewConn(cn)
		c.Capabilities = tt.caps
		if _, err := c.ReadCommand(); err != nil {
			t.Fatal(err)
		}
		if err := tt.write(c); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(cn.out.Bytes(), frame(2, tt.want...)) {
			t.Errorf("%s: %q, want %q", name, cn.out.Bytes(), frame(2, tt.want...))
		}
		if cn.writes != 1 {
			t.Errorf("%s: %d writes", name, cn.writes)
		}
		if cmd, err := c.ReadCommand(); err != nil || cmd.Code != ComPing {
			t.Errorf("%s: then %v, %v", name, cmd, err)
		}
	}
}

func TestLenenc(t *testing.T) {
	for _, v := range []uint64{0, 250, 251, 1<<16 - 1, 1 << 16, 1<<24 - 1, 1 << 24, 1<<64 - 1} {
		b := appendLenenc(nil, v)
		f := fields{b: b}
		if got := f.lenenc(); got != v || f.bad || len(f.b) > 0 {
			t.Errorf("%d became %d", v, got)
		}
		for i := range b {
			f := fields{b: b[:i]}
			if got := f.lenenc(); got != 0 || !f.bad {
				t.Errorf("%d of %d bytes read as %d", i, len(b), got)
			}
		}
	}
	for _, b := range [][]byte{{0xfb}, {0xff}} {
		if f := (fields{b: b}); f.lenenc() != 0 || !f.bad {
			t.Errorf("%v is no number", b)
		}
	}
}

func TestOfferedCapabilities(t *testing.T) {
	if got := OfferedCapabilities(); got&CapDeprecateEOF != 0 || got&CapFoundRows == 0 {
		t.Errorf("without servers: %#x", got)
	}
	all := ^uint32(0)
	if got := OfferedCapabilities(all, all&^CapLongPassword, all&^CapLocalFiles); got != BaseCapabilities|MirroredCapabilities&^CapLocalFiles {
		t.Errorf("of three servers: %#x", got)
	}
	if got := OfferedCapabilities(all); got&(CapSSL|CapCompress|CapSessionTrack|CapQueryAttributes) != 0 {
		t.Errorf("too much: %#x", got)
	}
}

func TestPeer(t *testing.T) {
	server, client := tcpPair(t)
	c := NewConn(server)
	if c.Peer() != PeerQuiet || !c.Idle() {
		t.Error("a fresh connection is not quiet")
	}
	await := func(want PeerState) {
		t.Helper()
		for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); <-time.After(time.Millisecond) {
			if c.Peer() == want {
				return
			}
		}
		t.Errorf("peer is %d, want %d", c.Peer(), want)
	}
	if _, err := client.Write(frame(0, []byte{ComPing})); err != nil {
		t.Fatal(err)
	}
	await(PeerReadable)
	if c.Idle() {
		t.Error("idle with a command waiting")
	}
	if cmd, err := c.ReadCommand(); err != nil || cmd.Code != ComPing {
		t.Errorf("the look took something away: %v, %v", cmd, err)
	}
	_ = client.Close()
	await(PeerGone)
	_ = server.Close()
	if c.Peer() != PeerGone {
		t.Error("a closed connection is not gone")
	}
}
