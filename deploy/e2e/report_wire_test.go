package e2e

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	goclient "github.com/go-mysql-org/go-mysql/client"
	gomysql "github.com/go-mysql-org/go-mysql/mysql"
)

// Numbers of the protocol that tests speak of.
const (
	maxFragment = 1<<24 - 1 // Longest payload of one packet.

	longType, longlongType, blobType, textType = 3, 8, 252, 253
)

// wire is a client that sends and reads packet by packet, to do what drivers don't. Its responses have classic EOFs.
type wire struct {
	t  *testing.T
	id uint32 // The connection id of the greeting.
	nc net.Conn
	r  *bufio.Reader

	sequence byte // Of the next packet of the response.
}

// wire logs in to the shared gateway.
func (r *reports) wire(t *testing.T, user string) *wire {
	t.Helper()
	return dialWire(t, r.gateway.address, user)
}

// dialWire logs in by go-mysql's client and takes the connection over.
func dialWire(t *testing.T, address, user string) *wire {
	t.Helper()
	w, err := wireBehind(t, address, user, "")
	if err != nil {
		t.Fatalf("log in as %s: %v", user, err)
	}
	return w
}

// wireBehind sends something before the login, as proxies do.
func wireBehind(t *testing.T, address, user, first string) (*wire, error) {
	t.Helper()
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		nc, err := new(net.Dialer).DialContext(ctx, network, address)
		if err == nil {
			err = nc.SetDeadline(time.Now().Add(patience))
		}
		if err == nil {
			_, err = nc.Write([]byte(first))
		}
		return nc, err
	}
	c, err := goclient.ConnectWithDialer(t.Context(), "tcp", address, user, password, schema, dial, func(c *goclient.Conn) error {
		for _, flag := range []uint32{gomysql.CLIENT_DEPRECATE_EOF, gomysql.CLIENT_QUERY_ATTRIBUTES} {
			c.UnsetCapability(flag)
		}
		return errors.Join(c.SetCapability(gomysql.CLIENT_MULTI_STATEMENTS), c.SetCapability(gomysql.CLIENT_LOCAL_FILES), c.SetCapability(gomysql.CLIENT_MULTI_RESULTS),
			c.SetCapability(gomysql.CLIENT_PS_MULTI_RESULTS), c.SetCollation("utf8mb4_general_ci"))
	})
	if err != nil {
		return nil, err
	}
	w := &wire{t: t, id: c.GetConnectionID(), nc: c.Conn.Conn, r: bufio.NewReader(c.Conn.Conn)}
	t.Cleanup(func() { _ = w.nc.Close() })
	return w, nil
}

// header builds the four bytes in front of a payload.
func header(length int, sequence byte) []byte {
	return []byte{byte(length), byte(length >> 8), byte(length >> 16), sequence}
}

// write sends bytes as they are.
func (w *wire) write(b []byte) error {
	if err := w.nc.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, err := w.nc.Write(b)
	return err
}

// send begins a command, of any size.
func (w *wire) send(code byte, arg ...byte) {
	w.t.Helper()
	w.sequence = 0
	payload := append([]byte{code}, arg...)
	for {
		n := min(len(payload), maxFragment)
		if err := w.write(append(header(n, w.sequence), payload[:n]...)); err != nil {
			w.t.Fatalf("send command %#x: %v", code, err)
		}
		w.sequence++
		payload = payload[n:]
		if n < maxFragment {
			return
		}
	}
}

// query sends COM_QUERY.
func (w *wire) query(text string) {
	w.t.Helper()
	w.send(gomysql.COM_QUERY, []byte(text)...)
}

// read gives the next payload, put together from its fragments. Numbers out of sequence are an error.
func (w *wire) read() ([]byte, error) {
	if err := w.nc.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	var payload []byte
	for {
		var head [4]byte
		if _, err := io.ReadFull(w.r, head[:]); err != nil {
			return nil, err
		}
		if head[3] != w.sequence {
			return nil, fmt.Errorf("packet %d of the response has the number %d", w.sequence, head[3])
		}
		w.sequence++
		n := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
		start := len(payload)
		payload = slices.Grow(payload, n)[:start+n]
		if _, err := io.ReadFull(w.r, payload[start:]); err != nil {
			return nil, err
		}
		if n < maxFragment {
			return payload, nil
		}
	}
}

// response is one result: rows, or an OK, or an ERR.
type response struct {
	err        *gomysql.MyError
	columns    int
	rows       [][]byte // As they came.
	status     uint16
	affected   uint64
	insertID   uint64
	infileName string // Wanted by LOAD DATA LOCAL: nothing else has come then.
}

func (r response) String() string {
	if r.err != nil {
		return r.err.Error()
	}
	return fmt.Sprintf("%d columns, %d rows, status %#x, affected %d", r.columns, len(r.rows), r.status, r.affected)
}

// more says whether another result follows.
func (r response) more() bool { return r.status&gomysql.SERVER_MORE_RESULTS_EXISTS != 0 }

// inTransaction is the server's word on it.
func (r response) inTransaction() bool { return r.status&gomysql.SERVER_STATUS_IN_TRANS != 0 }

// value is the first value of the first row of a text result.
func (r response) value() string {
	if len(r.rows) == 0 {
		return "no rows: " + r.String()
	}
	if r.rows[0][0] == 0xfb {
		return "NULL"
	}
	value, _, _, err := gomysql.LengthEncodedString(r.rows[0])
	if err != nil {
		return err.Error()
	}
	return string(value)
}

// result reads one result.
func (w *wire) result() response {
	w.t.Helper()
	res, err := w.tryResult()
	if err != nil {
		w.t.Fatalf("read a response: %v", err)
	}
	return res
}

func (w *wire) tryResult() (response, error) {
	payload, err := w.read()
	if err != nil {
		return response{}, err
	}
	switch payload[0] {
	case gomysql.OK_HEADER:
		return parseOK(payload), nil
	case gomysql.ERR_HEADER:
		return parseError(payload), nil
	case gomysql.LocalInFile_HEADER:
		return response{infileName: string(payload[1:])}, nil
	}
	columns, _, _ := gomysql.LengthEncodedInt(payload)
	for range columns {
		if _, err := w.read(); err != nil {
			return response{}, fmt.Errorf("column: %w", err)
		}
	}
	eof, err := w.read()
	if err != nil {
		return response{}, fmt.Errorf("end of columns: %w", err)
	}
	res := response{status: binary.LittleEndian.Uint16(eof[3:])}
	if res.status&gomysql.SERVER_STATUS_CURSOR_EXISTS == 0 {
		res, err = w.tryRows()
	}
	res.columns = int(columns)
	return res, err
}

// tryRows reads rows to their end, also those of COM_STMT_FETCH.
func (w *wire) tryRows() (response, error) {
	var res response
	for {
		payload, err := w.read()
		switch {
		case err != nil:
			return res, fmt.Errorf("after %d rows: %w", len(res.rows), err)
		case payload[0] == gomysql.ERR_HEADER:
			res.err = parseError(payload).err
			return res, nil
		case payload[0] == gomysql.EOF_HEADER && len(payload) < 9:
			res.status = binary.LittleEndian.Uint16(payload[3:])
			return res, nil
		}
		res.rows = append(res.rows, payload)
	}
}

// fetch reads rows of an open cursor.
func (w *wire) fetch(id uint32, rows byte) response {
	w.t.Helper()
	w.send(gomysql.COM_STMT_FETCH, append(number32(id), rows, 0, 0, 0)...)
	res, err := w.tryRows()
	if err != nil {
		w.t.Fatalf("fetch: %v", err)
	}
	return res
}

func parseOK(payload []byte) response {
	affected, _, n := gomysql.LengthEncodedInt(payload[1:])
	insertID, _, m := gomysql.LengthEncodedInt(payload[1+n:])
	return response{affected: affected, insertID: insertID, status: binary.LittleEndian.Uint16(payload[1+n+m:])}
}

func parseError(payload []byte) response {
	e := &gomysql.MyError{Code: binary.LittleEndian.Uint16(payload[1:]), Message: string(payload[3:])}
	if rest, ok := strings.CutPrefix(e.Message, "#"); ok && len(rest) >= 5 {
		e.State, e.Message = rest[:5], rest[5:]
	}
	return response{err: e}
}

// run sends a query and reads its one result.
func (w *wire) run(text string) response {
	w.t.Helper()
	w.query(text)
	return w.result()
}

// do runs a statement that must succeed.
func (w *wire) do(statements ...string) {
	w.t.Helper()
	for _, s := range statements {
		if res := w.run(s); res.err != nil {
			w.t.Fatalf("%s: %v", s, res.err)
		}
	}
}

// want checks the first value of a query.
func (w *wire) want(query, want string) {
	w.t.Helper()
	if got := w.run(query).value(); got != want {
		w.t.Errorf("%s: %s, want %s", query, got, want)
	}
}

// wantError reads a result that must be an error.
func (w *wire) wantError(code uint16) {
	w.t.Helper()
	if res := w.result(); res.err == nil || res.err.Code != code {
		w.t.Errorf("%v, want error %d", res, code)
	}
}

// wantEnd reads to the end of the connection, past an error, which is all that may come before it.
func (w *wire) wantEnd() {
	w.t.Helper()
	for {
		payload, err := w.read()
		switch {
		case err != nil && !isTimeout(err):
			return
		case err != nil:
			w.t.Errorf("the connection does not end: %v", err)
			return
		case payload[0] != gomysql.ERR_HEADER:
			w.t.Errorf("the connection goes on with % x", payload[:min(len(payload), 40)])
			return
		}
	}
}

// wantCut reads whatever is on its way, to the end of the connection.
func (w *wire) wantCut() {
	w.t.Helper()
	for {
		if _, err := w.read(); err != nil {
			if isTimeout(err) {
				w.t.Errorf("the connection does not end: %v", err)
			}
			return
		}
	}
}

// prepare gives a statement's id and how many parameters and columns it has.
func (w *wire) prepare(text string) (id uint32, params, columns int) {
	w.t.Helper()
	w.send(gomysql.COM_STMT_PREPARE, []byte(text)...)
	return w.prepared()
}

// prepared reads the response of COM_STMT_PREPARE.
func (w *wire) prepared() (id uint32, params, columns int) {
	w.t.Helper()
	payload, err := w.read()
	if err != nil {
		w.t.Fatalf("prepare: %v", err)
	}
	if payload[0] != gomysql.OK_HEADER {
		w.t.Fatalf("prepare: %v", parseError(payload))
	}
	columns, params = int(binary.LittleEndian.Uint16(payload[5:])), int(binary.LittleEndian.Uint16(payload[7:]))
	for _, n := range []int{params, columns} {
		if n == 0 {
			continue
		}
		for range n + 1 {
			if _, err := w.read(); err != nil {
				w.t.Fatalf("prepare: definitions: %v", err)
			}
		}
	}
	return binary.LittleEndian.Uint32(payload[1:]), params, columns
}

// execute sends COM_STMT_EXECUTE. rest is what follows the iteration count.
func (w *wire) execute(id uint32, cursor byte, rest ...byte) {
	w.t.Helper()
	w.send(gomysql.COM_STMT_EXECUTE, append(append(number32(id), cursor, 1, 0, 0, 0), rest...)...)
}

// longData sends a part of a statement's first parameter; it has no response.
func (w *wire) longData(id uint32, data string) {
	w.t.Helper()
	w.send(gomysql.COM_STMT_SEND_LONG_DATA, append(append(number32(id), 0, 0), data...)...)
}

func number32(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }

// drop breaks the connection off, as the death of the client does.
func (w *wire) drop() {
	_ = w.nc.(*net.TCPConn).SetLinger(0)
	_ = w.nc.Close()
}
