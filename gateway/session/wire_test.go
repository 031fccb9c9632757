package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"testing"
	"time"

	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/pool"
)

// wire is a client that keeps the bytes of all responses, so that two servers can be compared. It knows the protocol by
// itself, not by gateway/mysql. Its commands go out one after another; the first broken connection ends the script.
type wire struct {
	t     *testing.T
	nc    io.ReadWriter
	caps  uint32
	name  string            // of the command under way
	ids   map[string]uint32 // of prepared statements
	files map[string]string // for LOAD DATA LOCAL; others are refused
	seq   byte              // of the next packet to send
	now   bytes.Buffer      // the response so far, packet headers included
	log   []response
}

// response is what came after a command. Large ones are kept as their sum.
type response struct {
	command string
	length  int
	bytes   []byte
}

// wholeResponse is the largest response that is kept whole.
const wholeResponse = 64 << 10

func dialWire(t *testing.T, addr string, caps uint32) *wire {
	t.Helper()
	b, err := pool.Dial(t.Context(), pool.Target{
		Addr: addr, User: "app", Secret: mysql.ClearSecret("secret"), DB: "wire", ClientFlags: caps, ConnectTimeout: wait,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Conn.Close() })
	nc := b.Conn.NetConn()
	if err := nc.SetDeadline(time.Now().Add(4 * wait)); err != nil {
		t.Fatal(err)
	}
	return &wire{t: t, nc: nc, caps: b.Conn.Capabilities, ids: map[string]uint32{}}
}

// send sends a payload as one command, or as what a command asked for.
func (w *wire) send(payload ...[]byte) {
	w.t.Helper()
	all := bytes.Join(payload, nil)
	var out []byte
	for {
		n := min(len(all), mysql.MaxFragment)
		out = append(append(out, byte(n), byte(n>>8), byte(n>>16), w.seq), all[:n]...)
		w.seq++
		all = all[n:]
		if n < mysql.MaxFragment {
			break
		}
	}
	if _, err := w.nc.Write(out); err != nil {
		w.t.Fatalf("%s: %v", w.name, err)
	}
}

// packet reads one payload and keeps it, with all its headers.
func (w *wire) packet() []byte {
	w.t.Helper()
	var payload []byte
	for {
		var header [4]byte
		if _, err := io.ReadFull(w.nc, header[:]); err != nil {
			w.t.Fatalf("%s: %v after %d bytes of the response: %.200q", w.name, err, w.now.Len(), w.now.Bytes())
		}
		n := int(header[0]) | int(header[1])<<8 | int(header[2])<<16
		at := len(payload)
		payload = append(payload, make([]byte, n)...)
		if _, err := io.ReadFull(w.nc, payload[at:]); err != nil {
			w.t.Fatalf("%s: %v in a packet of %d bytes", w.name, err, n)
		}
		w.seq = header[3] + 1
		w.now.Write(header[:])
		w.now.Write(payload[at:])
		if n < mysql.MaxFragment {
			return payload
		}
	}
}

// serversID are the ids of statements in error texts.
var serversID = regexp.MustCompile(`\(\d+\) has no open`)

// begin names a command, and end keeps its response.
func (w *wire) begin(name string) {
	w.name, w.seq = fmt.Sprintf("%d %.100s", len(w.log), name), 0
	w.now.Reset()
}

func (w *wire) end() {
	r := response{command: w.name, length: w.now.Len()}
	if r.length > wholeResponse {
		sum := sha256.Sum256(w.now.Bytes())
		r.bytes = sum[:]
	} else if r.bytes = serversID.ReplaceAll(w.now.Bytes(), nil); len(r.bytes) != r.length {
		clear(r.bytes[:3]) // the length
		r.length = len(r.bytes)
	}
	w.log = append(w.log, r)
}

func lenencAt(b []byte) (v uint64, size int) {
	switch b[0] {
	case 0xfc:
		return uint64(binary.LittleEndian.Uint16(b[1:])), 3
	case 0xfd:
		return uint64(b[1]) | uint64(b[2])<<8 | uint64(b[3])<<16, 4
	case 0xfe:
		return binary.LittleEndian.Uint64(b[1:]), 9
	}
	return uint64(b[0]), 1
}

// statusOf reads the flags of an OK or EOF; an ERR has none.
func statusOf(p []byte) uint16 {
	switch {
	case p[0] == 0xff:
		return 0
	case p[0] == 0xfe && len(p) == 5:
		return binary.LittleEndian.Uint16(p[3:])
	}
	at := 1
	for range 2 {
		_, n := lenencAt(p[at:])
		at += n
	}
	return binary.LittleEndian.Uint16(p[at:])
}

func (w *wire) endsRows(p []byte) bool {
	if w.caps&mysql.CapDeprecateEOF != 0 {
		return p[0] == 0xff || p[0] == 0xfe && len(p) < mysql.MaxFragment
	}
	return p[0] == 0xff || p[0] == 0xfe && len(p) < 9
}

// results reads the response to a query or an execution.
func (w *wire) results() {
	w.t.Helper()
	for {
		p := w.packet()
		switch p[0] {
		case 0xfb:
			w.sendFile(string(p[1:]))
			continue
		case 0x00, 0xff:
		default:
			if p = w.columns(p); p == nil {
				p = w.rows()
			}
		}
		if statusOf(p)&mysql.StatusMoreResultsExists == 0 {
			return
		}
	}
}

// columns reads definitions. When nothing follows them it gives the last packet.
func (w *wire) columns(count []byte) []byte {
	w.t.Helper()
	n, _ := lenencAt(count)
	for range n {
		if p := w.packet(); p[0] == 0xff {
			return p
		}
	}
	if w.caps&mysql.CapDeprecateEOF != 0 {
		return nil
	}
	if p := w.packet(); p[0] == 0xff || statusOf(p)&mysql.StatusCursorExists != 0 {
		return p
	}
	return nil
}

func (w *wire) rows() []byte {
	w.t.Helper()
	for {
		if p := w.packet(); w.endsRows(p) {
			return p
		}
	}
}

// sendFile answers a request for a file, in packets of a few sizes.
func (w *wire) sendFile(name string) {
	w.t.Helper()
	content := []byte(w.files[name])
	for size := 1; len(content) > 0; size = size*7 + 1 {
		n := min(size, len(content), 200_000)
		w.send(content[:n])
		content = content[n:]
	}
	w.send(nil)
}

// The commands.

func (w *wire) query(text string) {
	w.t.Helper()
	w.begin(text)
	w.send([]byte{mysql.ComQuery}, []byte(text))
	w.results()
	w.end()
}

// simple runs a command with one packet as its answer.
func (w *wire) simple(code byte, arg string) {
	w.t.Helper()
	w.begin(fmt.Sprintf("command %#x %s", code, arg))
	w.send([]byte{code}, []byte(arg))
	w.packet()
	w.end()
}

func (w *wire) fieldList(arg string) {
	w.t.Helper()
	w.begin("field list " + arg)
	w.send([]byte{mysql.ComFieldList}, []byte(arg))
	w.rows()
	w.end()
}

// prepare keeps the id under the text, and takes it out of the bytes.
func (w *wire) prepare(text string) {
	w.t.Helper()
	w.begin("prepare " + text)
	w.send([]byte{mysql.ComStmtPrepare}, []byte(text))
	if p := w.packet(); p[0] == 0 {
		w.ids[text] = binary.LittleEndian.Uint32(p[1:])
		clear(w.now.Bytes()[5:9])
		for _, n := range []uint16{binary.LittleEndian.Uint16(p[7:]), binary.LittleEndian.Uint16(p[5:])} {
			for range n {
				w.packet()
			}
			if n > 0 && w.caps&mysql.CapDeprecateEOF == 0 {
				w.packet()
			}
		}
	}
	w.end()
}

func (w *wire) id(text string) []byte { return binary.LittleEndian.AppendUint32(nil, w.ids[text]) }

// execute runs a prepared statement; bound is what follows the iterations.
func (w *wire) execute(text string, flags byte, bound ...byte) {
	w.t.Helper()
	w.begin(fmt.Sprintf("execute %s %d % .20x", text, flags, bound))
	w.send([]byte{mysql.ComStmtExecute}, w.id(text), []byte{flags, 1, 0, 0, 0}, bound)
	w.results()
	w.end()
}

func (w *wire) fetch(text string, rows byte) {
	w.t.Helper()
	w.begin("fetch " + text)
	w.send([]byte{mysql.ComStmtFetch}, w.id(text), []byte{rows, 0, 0, 0})
	w.rows()
	w.end()
}

func (w *wire) resetStatement(text string) {
	w.t.Helper()
	w.begin("reset " + text)
	w.send([]byte{mysql.ComStmtReset}, w.id(text))
	w.packet()
	w.end()
}

// longData and closeStatement have no answer.
func (w *wire) longData(text string, parameter byte, data string) {
	w.t.Helper()
	w.begin("long data")
	w.send([]byte{mysql.ComStmtSendLongData}, w.id(text), []byte{parameter, 0}, []byte(data))
}

func (w *wire) closeStatement(text string) {
	w.t.Helper()
	w.begin("close")
	w.send([]byte{mysql.ComStmtClose}, w.id(text))
}

// compareWires reports the first differences.
func compareWires(t *testing.T, direct, through *wire) {
	t.Helper()
	differences := 0
	for i, want := range direct.log {
		got := through.log[i]
		if got.command == want.command && got.length == want.length && bytes.Equal(got.bytes, want.bytes) {
			continue
		}
		t.Errorf("%s:\n    through the gateway %d bytes: %.300q\n    directly            %d bytes: %.300q",
			want.command, got.length, got.bytes, want.length, want.bytes)
		if differences++; differences == 20 {
			t.Fatal("and maybe more")
		}
	}
}
