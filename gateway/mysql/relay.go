package mysql

import (
	"bytes"
	"errors"
	"fmt"
	"time"
)

// responseForm is how the response to a command is built.
type responseForm int

const (
	formNone     responseForm = iota // There is none.
	formResults                      // OK, ERR, LOCAL INFILE or result sets, repeated while more exist.
	formPrepared                     // The answer to COM_STMT_PREPARE.
	formRows                         // Rows or definitions up to an EOF, without a head.
	formSingle                       // One OK, EOF or ERR.
	formText                         // One packet of text.
)

// formOf tells the form of a command's response. false means that the command can't be relayed: it is unknown, it takes
// the connection over for good, or, as a change of user, it is the gateway's own affair.
func formOf(code byte) (responseForm, bool) {
	switch code {
	case ComQuit, ComStmtClose, ComStmtSendLongData:
		return formNone, true
	case ComQuery, ComProcessInfo, ComStmtExecute:
		return formResults, true
	case ComStmtPrepare:
		return formPrepared, true
	case ComStmtFetch, ComFieldList:
		return formRows, true
	case ComInitDB, ComCreateDB, ComDropDB, ComRefresh, ComShutdown, ComProcessKill, ComDebug, ComPing, ComStmtReset,
		ComSetOption, ComResetConnection:
		return formSingle, true
	case ComStatistics:
		return formText, true
	}
	return formNone, false
}

// Relayable says whether [Relay] takes a command. The others get [CodeUnknownCommand] from real servers too, or need an
// own answer.
func Relayable(code byte) bool {
	_, ok := formOf(code)
	return ok
}

// Request says how the client's current command is to be relayed.
type Request struct {
	// Text, unless nil, replaces all that follows the command byte: another query text. Query attributes stay before it.
	Text []byte
	// StatementID, unless 0, is the id that the client is told in the answer to COM_STMT_PREPARE.
	StatementID uint32
	// OnError, unless nil, may give another error to be told to the client instead of the server's. Outcome.Err stays
	// the server's.
	OnError func(*Error) *Error
	// Record, unless nil, takes a copy of what the client is sent.
	Record *Record
}

// lastWordsWait is how long a backend that stopped reading has for its error, which is on its way if there is one.
const lastWordsWait = time.Second

// Relay sends the client's current command to the backend and the response to the client. Both connections must have
// negotiated the same [CapDeprecateEOF] and [CapQueryAttributes].
//
// The error is nil when the response reached the client whole, also if it was an ERR (see Outcome.Err). It is a
// [*SideError] when a connection broke: a broken backend with Outcome.FirstByteSent false may be replaced and the command
// relayed again if [Command.Replayable]; with FirstByteSent true the client is in the middle of a response (or got the
// backend's last ERR, then in Outcome.Err) and must be closed. After a client's error the backend is not usable any more
// either, as the rest of a response may be in it. It is [ErrUnsupported] when nothing was sent.
func Relay(client, backend *Conn, req Request) (Outcome, error) {
	cmd := &client.cmd
	form, ok := formOf(cmd.Code)
	if !ok || len(cmd.Payload) == 0 {
		return Outcome{}, fmt.Errorf("relay command %#x: %w", cmd.Code, ErrUnsupported)
	}
	backend.grow()
	backend.rewind()
	s := &backend.scan
	*s = scan{src: backend, dst: client, out: &backend.outcome, pos: backend.r, first: true, stmtID: req.StatementID, onError: req.OnError, record: req.Record}
	*s.out = Outcome{}
	err := s.upload(form, req.Text)
	if err == nil {
		err = s.response(form)
	}
	backend.shrink()
	return *s.out, err
}

// upload sends the client's current command, and learns from its count of packets how the response is numbered.
func (s *scan) upload(form responseForm, text []byte) error {
	client, backend, cmd := s.dst, s.src, &s.dst.cmd
	var sent byte
	var err error
	if text == nil {
		if err = client.sendCommand(backend, form != formNone); errors.Is(err, ErrUnsupported) {
			return err
		}
		sent = byte(cmd.fragments)
	} else {
		attributes, malformed := client.attributes()
		if malformed != nil {
			return errors.Join(malformed, ErrUnsupported)
		}
		head := cmd.Payload[:1+attributes]
		if !cmd.Complete {
			head = bytes.Clone(head) // it may be in the buffer that draining uses
		}
		if err := client.Drain(); err != nil {
			return err
		}
		if sent, err = backend.writeFragments(head, text, 0); err != nil {
			err = backendError("write", err)
		}
	}
	s.seq, s.shift = sent, byte(cmd.fragments)-sent
	if err == nil {
		return nil
	}
	return s.rejected(form, err)
}

// rejected judges an upload that failed. A backend that hung up may have said why, and when the command can't be tried
// elsewhere, the client shall know, unless the command has no response.
func (s *scan) rejected(form responseForm, err error) error {
	var side *SideError
	if !errors.As(err, &side) || side.Side == SideClient {
		return err
	}
	client, nc := s.dst, s.src.nc
	_ = nc.SetReadDeadline(time.Now().Add(lastWordsWait)) // A closed connection shows at the read.
	told := s.lastWords()
	_ = nc.SetReadDeadline(time.Time{})
	if told == nil {
		return err
	}
	side.Err = told
	if client.cmd.Replayable() || form == formNone {
		return err
	}
	if err := client.WriteError(told); err != nil {
		return &SideError{Side: SideClient, Op: "write", Err: err}
	}
	s.out.FirstByteSent, s.out.Err = true, told
	return err
}

// Exec sends a command of the gateway's own and reads its response, which nobody else sees. An ERR is returned as an
// [*Error] and leaves the connection usable; any other error does not.
func (c *Conn) Exec(code byte, arg []byte) (Outcome, error) {
	form, ok := formOf(code)
	if !ok {
		return Outcome{}, fmt.Errorf("execute command %#x: %w", code, ErrUnsupported)
	}
	c.rewind()
	s := &c.scan
	c.grow()
	*s = scan{src: c, out: &c.outcome, pos: c.r, first: true}
	*s.out = Outcome{}
	head := []byte{code}
	if code == ComQuery && c.Capabilities&CapQueryAttributes != 0 {
		head = append(head, 0, 1) // no attributes, in one set
	}
	sent, err := c.writeFragments(head, arg, 0)
	if err != nil {
		return Outcome{}, backendError("write", err)
	}
	s.seq = sent
	err = s.response(form)
	c.shrink()
	if err != nil {
		return *s.out, err
	}
	if s.out.Err != nil {
		return *s.out, s.out.Err
	}
	return *s.out, nil
}
