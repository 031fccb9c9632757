package mysql

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// maxSpilled is the largest OK packet with session state that is taken apart, in bytes.
const maxSpilled = 1 << 20

// scan walks a backend's response, packet header by packet header, in the backend's read buffer. What was walked,
// src.buf[src.r:pos], goes to dst with one write when the buffer is used up or the response ends. It lives in the
// backend's Conn so that relaying allocates nothing.
type scan struct {
	src, dst *Conn // dst is nil when nobody wants to see the response.
	out      *Outcome
	pos      int  // Where the next packet begins, or goes on, in src.buf.
	seq      byte // The number that the next packet must have.
	shift    byte // What makes it the client's number.
	first    bool // No packet was looked at yet.
	stmtID   uint32
	onError  func(*Error) *Error
	record   *Record
}

func backendError(op string, err error) error {
	return &SideError{Side: SideBackend, Op: op, Err: err}
}

func malformed(what string) error {
	return backendError("read", fmt.Errorf("%s: %w", what, ErrMalformedPacket))
}

// flush sends what was walked.
func (s *scan) flush() error {
	span := s.src.buf[s.src.r:s.pos]
	s.src.r = s.pos
	if len(span) == 0 {
		return nil
	}
	s.out.ResponseBytes += uint64(len(span))
	return s.send(span)
}

func (s *scan) send(b []byte) error {
	if s.dst == nil {
		return nil
	}
	s.out.FirstByteSent = true
	if s.record != nil {
		s.record.add(b)
	}
	if err := s.dst.write(b); err != nil {
		return &SideError{Side: SideClient, Op: "write", Err: err}
	}
	return nil
}

// have makes n bytes from pos on available in the buffer, which holds that many.
func (s *scan) have(n int) error {
	src := s.src
	if src.w-s.pos >= n {
		return nil
	}
	if err := s.flush(); err != nil {
		return err
	}
	if err := src.need(n); err != nil {
		return backendError("read", unexpected(err))
	}
	s.pos = src.r
	return nil
}

// header looks at the next packet: its payload's length and first byte, 0 when it is empty. pos stays at the header.
func (s *scan) header() (length int, head byte, err error) {
	if err := s.have(headerSize); err != nil {
		return 0, 0, err
	}
	h := s.src.buf[s.pos : s.pos+headerSize]
	length = packetLength(h)
	if h[3] != s.seq {
		if err := s.resync(length); err != nil {
			return 0, 0, err
		}
		h = s.src.buf[s.pos : s.pos+headerSize]
	}
	s.first = false
	s.seq++
	h[3] += s.shift
	if length > 0 {
		if err := s.have(headerSize + 1); err != nil {
			return 0, 0, err
		}
		head = s.src.buf[s.pos+headerSize]
	}
	return length, head, nil
}

// resync judges a packet with an unexpected number. An ERR that comes first is accepted: some servers number it anew
// when they refuse a large command. With number 0 it was sent before the command came, by a server that says why it
// hangs up.
func (s *scan) resync(length int) error {
	if !s.first || length < 3 {
		return backendError("read", ErrOutOfOrder)
	}
	n := min(headerSize+length, bufferSize)
	if err := s.have(n); err != nil {
		return err
	}
	packet := s.src.buf[s.pos : s.pos+n]
	if packet[headerSize] != headErr {
		return backendError("read", ErrOutOfOrder)
	}
	if packet[3] == 0 {
		return backendError("read", ParseError(packet[headerSize:]))
	}
	s.shift += s.seq - packet[3]
	s.seq = packet[3]
	return nil
}

// skip walks over n bytes, which may be more than the buffer holds.
func (s *scan) skip(n int) error {
	for {
		avail := s.src.w - s.pos
		if n <= avail {
			s.pos += n
			return nil
		}
		s.pos = s.src.w
		n -= avail
		if err := s.flush(); err != nil {
			return err
		}
		if err := s.src.need(1); err != nil {
			return backendError("read", unexpected(err))
		}
		s.pos = s.src.r
	}
}

// skipPayload walks over the packet at pos and those that continue it.
func (s *scan) skipPayload(length int) error {
	for {
		if err := s.skip(headerSize + length); err != nil {
			return err
		}
		if length < MaxFragment {
			return nil
		}
		// A continuation is data from its first byte on.
		if err := s.have(headerSize); err != nil {
			return err
		}
		h := s.src.buf[s.pos : s.pos+headerSize]
		if h[3] != s.seq {
			return backendError("read", ErrOutOfOrder)
		}
		s.seq++
		h[3] += s.shift
		length = packetLength(h)
	}
}

// response walks the response of the given form and sends what is left of it.
func (s *scan) response(form responseForm) error {
	var err error
	switch form {
	case formNone:
		return nil
	case formResults:
		err = s.results()
	case formPrepared:
		err = s.prepared()
	case formRows:
		err = s.rows()
	case formSingle:
		err = s.single()
	case formText:
		err = s.text()
	}
	if err != nil {
		return err
	}
	return s.flush()
}

// results walks the results of a query or an execution: OK, ERR, request for a file, or a result set, and more of them
// as long as the server says so.
func (s *scan) results() error {
	for {
		length, head, err := s.header()
		if err != nil {
			return err
		}
		switch {
		case length == 0:
			return malformed("empty packet before a result")
		case head == headInfile:
			if err := s.infile(length); err != nil {
				return err
			}
			continue // The result of the load follows.
		case head == headOK, head == headErr, head == headEOF && length < shortEOFLimit:
			err = s.terminal(length, head)
		default:
			err = s.resultset(length)
		}
		if err != nil {
			return err
		}
		s.out.Results++
		if s.failed() || s.out.Status&StatusMoreResultsExists == 0 {
			return nil
		}
	}
}

// resultset walks a result set whose column count is at pos.
func (s *scan) resultset(length int) error {
	if length > 9 {
		return malformed("column count")
	}
	if err := s.have(headerSize + length); err != nil {
		return err
	}
	f := fields{b: s.src.buf[s.pos+headerSize : s.pos+headerSize+length]}
	columns := f.lenenc()
	if f.bad || len(f.b) > 0 || columns == 0 {
		return malformed("column count")
	}
	s.pos += headerSize + length
	if done, err := s.definitions(columns); done || err != nil {
		return err
	}
	return s.rows()
}

// definitions walks n column definitions and, without DEPRECATE_EOF, the EOF after them. done says that the result
// ends here: an error, or a cursor whose rows are fetched later.
func (s *scan) definitions(n uint64) (done bool, err error) {
	for range n {
		length, head, err := s.header()
		if err != nil {
			return false, err
		}
		if head == headErr && length > 0 {
			return true, s.terminal(length, head)
		}
		if err := s.skipPayload(length); err != nil {
			return false, err
		}
	}
	if s.deprecateEOF() {
		return false, nil
	}
	length, head, err := s.header()
	if err != nil {
		return false, err
	}
	if length == 0 || length >= shortEOFLimit && head != headErr || head != headEOF && head != headErr {
		return false, malformed("end of column definitions")
	}
	if err := s.terminal(length, head); err != nil {
		return false, err
	}
	return s.failed() || s.out.Status&StatusCursorExists != 0, nil
}

// failed says that an ERR ended the response.
func (s *scan) failed() bool { return s.out.Err != nil }

func (s *scan) deprecateEOF() bool { return s.src.Capabilities&CapDeprecateEOF != 0 }

// rows walks rows, or the definitions of a field list, up to the EOF or ERR after them.
func (s *scan) rows() error {
	limit := shortEOFLimit
	if s.deprecateEOF() {
		limit = MaxFragment // Longer ones begin a row whose first value is of 16 MiB or more.
	}
	for {
		length, head, err := s.header()
		if err != nil {
			return err
		}
		if length > 0 && (head == headErr || head == headEOF && length < limit) {
			return s.terminal(length, head)
		}
		if err := s.skipPayload(length); err != nil {
			return err
		}
		s.out.Rows++
	}
}

// single walks the one OK, EOF or ERR that answers most commands.
func (s *scan) single() error {
	length, head, err := s.header()
	if err != nil {
		return err
	}
	if length == 0 || head != headOK && head != headEOF && head != headErr {
		return malformed("answer")
	}
	s.out.Results++
	return s.terminal(length, head)
}

// text walks the one packet of bare text, or ERR, that answers COM_STATISTICS.
func (s *scan) text() error {
	length, head, err := s.header()
	if err != nil {
		return err
	}
	s.out.Results++
	if length > 0 && head == headErr {
		return s.terminal(length, head)
	}
	return s.skipPayload(length)
}

// prepared walks the answer to COM_STMT_PREPARE: ids and counts, then the definitions of parameters and of columns.
func (s *scan) prepared() error {
	const okLength = 12
	length, head, err := s.header()
	if err != nil {
		return err
	}
	s.out.Results++
	if length > 0 && head == headErr {
		return s.terminal(length, head)
	}
	if head != headOK || length < okLength || length > 64 {
		return malformed("answer to prepare")
	}
	if err := s.have(headerSize + length); err != nil {
		return err
	}
	body := s.src.buf[s.pos+headerSize : s.pos+headerSize+length]
	p := Prepared{
		OK: true, ID: binary.LittleEndian.Uint32(body[1:]),
		Columns: binary.LittleEndian.Uint16(body[5:]), Params: binary.LittleEndian.Uint16(body[7:]),
	}
	warnings := binary.LittleEndian.Uint16(body[10:])
	if s.stmtID != 0 {
		binary.LittleEndian.PutUint32(body[1:], s.stmtID)
	}
	s.pos += headerSize + length
	for _, n := range [...]uint16{p.Params, p.Columns} {
		if n == 0 {
			continue
		}
		if _, err := s.definitions(uint64(n)); err != nil {
			return err
		}
		if s.failed() {
			return nil
		}
	}
	// The EOFs in between carry no status of the session that could be relied on.
	s.out.Status, s.out.StatusKnown = 0, false
	s.out.Warnings = warnings
	s.out.Prepared = p
	return nil
}

// infile passes the server's request for a file and then the client's packets up to an empty one, whatever is in them.
func (s *scan) infile(length int) error {
	if err := s.skipPayload(length); err != nil {
		return err
	}
	if err := s.flush(); err != nil {
		return err
	}
	if s.dst == nil {
		return s.noFile()
	}
	dst := s.dst
	dst.grow() // The command stays where it is.
	for {
		if err := dst.need(headerSize); err != nil {
			return &SideError{Side: SideClient, Op: "read", Err: unexpected(err)}
		}
		h := dst.buf[dst.r : dst.r+headerSize]
		n := packetLength(h)
		if h[3] != s.seq+s.shift {
			return &SideError{Side: SideClient, Op: "read", Err: ErrOutOfOrder}
		}
		h[3] -= s.shift
		s.seq++
		// Header and content leave together when the buffer has them together.
		for left := headerSize + n; left > 0; {
			if dst.r == dst.w {
				if err := dst.need(1); err != nil {
					return &SideError{Side: SideClient, Op: "read", Err: unexpected(err)}
				}
			}
			m := min(left, dst.w-dst.r)
			if err := s.src.write(dst.buf[dst.r : dst.r+m]); err != nil {
				return backendError("write", err)
			}
			dst.r += m
			left -= m
		}
		if n == 0 {
			return nil
		}
	}
}

// noFile answers a request for a file that nobody can deliver.
func (s *scan) noFile() error {
	if err := s.src.write(appendHeader(s.src.out[:0], 0, s.seq)); err != nil {
		return backendError("write", err)
	}
	s.seq++
	return nil
}

// replaceError sends another error in the place of the one at pos.
func (s *scan) replaceError(length int, other *Error) error {
	seq := s.src.buf[s.pos+3]
	if err := s.flush(); err != nil {
		return err
	}
	dst := s.dst
	s.dst = nil // The original is walked over unseen.
	err := s.skip(headerSize + length)
	if err == nil {
		err = s.flush()
	}
	s.dst = dst
	if err != nil {
		return err
	}
	dst.seq = seq
	dst.out = dst.packet(dst.out[:0], func(b []byte) []byte { return appendErr(b, other) })
	return s.send(dst.out)
}

// terminal reads the OK, EOF or ERR at pos into the outcome and walks over it.
func (s *scan) terminal(length int, head byte) error {
	switch {
	case length >= MaxFragment:
		return malformed("end of result")
	case head == headErr:
		n := min(length, 16+maxErrorText)
		if err := s.have(headerSize + n); err != nil {
			return err
		}
		if n < 3 {
			return malformed("error")
		}
		s.out.Err = ParseError(s.src.buf[s.pos+headerSize : s.pos+headerSize+n])
		s.out.StatusKnown = false
		if s.onError != nil && s.dst != nil {
			if other := s.onError(s.out.Err); other != s.out.Err {
				return s.replaceError(length, other)
			}
		}
		return s.skip(headerSize + length)
	case head == headEOF && length <= 5:
		if err := s.have(headerSize + length); err != nil {
			return err
		}
		return s.eof(length)
	}
	return s.ok(length)
}

// eof reads the classic EOF packet at pos. That session state has changed is said there too, only without what; it is
// taken off where the client does not know of session state.
func (s *scan) eof(length int) error {
	payload := s.src.buf[s.pos+headerSize : s.pos+headerSize+length]
	f := fields{b: payload[1:]}
	s.out.Warnings, s.out.Status, s.out.StatusKnown = f.u16(), f.u16(), true
	if f.bad {
		return malformed("end of rows")
	}
	if s.src.Capabilities&CapSessionTrack != 0 {
		s.out.Status &^= StatusSessionStateChanged
		if s.dst != nil && s.dst.Capabilities&CapSessionTrack == 0 {
			binary.LittleEndian.PutUint16(payload[3:], s.out.Status)
		}
	}
	s.pos += headerSize + length
	return nil
}

// ok reads the OK packet at pos. Where the backend reports session state and the client does not know of it, the client
// gets the packet without.
func (s *scan) ok(length int) error {
	const fixed = 1 + 9 + 9 + 4
	if err := s.have(headerSize + min(length, fixed)); err != nil {
		return err
	}
	f := fields{b: s.src.buf[s.pos+headerSize : s.pos+headerSize+min(length, fixed)]}
	f.u8()
	s.out.AffectedRows, s.out.LastInsertID = f.lenenc(), f.lenenc()
	s.out.Status, s.out.Warnings, s.out.StatusKnown = f.u16(), f.u16(), true
	if f.bad {
		return malformed("OK")
	}
	if s.src.Capabilities&CapSessionTrack == 0 {
		return s.skip(headerSize + length)
	}
	changed := s.out.Status&StatusSessionStateChanged != 0
	s.out.Status &^= StatusSessionStateChanged
	if headerSize+length > bufferSize {
		return s.spill(length, changed)
	}
	if err := s.have(headerSize + length); err != nil {
		return err
	}
	end := s.pos + headerSize + length
	n, err := s.strip(s.src.buf[s.pos+headerSize:end], changed)
	if err != nil {
		return err
	}
	if n == length {
		s.pos = end
		return nil
	}
	// The packet shrank where it stood: send up to its new end and go on at the old one.
	copy(s.src.buf[s.pos:], appendHeader(s.src.out[:0], n, s.src.buf[s.pos+3]))
	s.pos += headerSize + n
	if err := s.flush(); err != nil {
		return err
	}
	s.src.r, s.pos = end, end
	return nil
}

// spill is ok for a packet that the buffer can't hold.
func (s *scan) spill(length int, changed bool) error {
	if length > maxSpilled {
		return malformed("OK with too much session state")
	}
	if err := s.flush(); err != nil {
		return err
	}
	packet := make([]byte, headerSize+length)
	if err := s.src.readFull(packet); err != nil {
		return backendError("read", unexpected(err))
	}
	s.pos = s.src.r
	n, err := s.strip(packet[headerSize:], changed)
	if err != nil {
		return err
	}
	s.out.ResponseBytes += uint64(headerSize + n)
	appendHeader(packet[:0], n, packet[3])
	return s.send(packet[:headerSize+n])
}

// strip reads info text and session state of an OK packet under SESSION_TRACK. Unless the client has that too, it
// rewrites the payload in place as without it, and returns the new length.
func (s *scan) strip(payload []byte, changed bool) (int, error) {
	f := fields{b: payload}
	f.u8()
	f.lenenc()
	f.lenenc()
	at := len(payload) - len(f.b)
	f.u16()
	f.u16()
	end := at + 4 // An empty info is not there at all without SESSION_TRACK; another has its length before it all the same.
	if len(f.b) > 0 && len(f.bytesLenenc()) > 0 {
		end = len(payload) - len(f.b)
	}
	if changed && len(f.b) > 0 {
		if s.out.Track == nil {
			s.out.Track = &SessionTrack{}
		}
		if err := s.out.Track.add(f.bytesLenenc()); err != nil {
			return 0, malformed("session state")
		}
	}
	if f.bad {
		return 0, malformed("OK")
	}
	if s.dst == nil || s.dst.Capabilities&CapSessionTrack != 0 {
		return len(payload), nil
	}
	status := binary.LittleEndian.Uint16(payload[at:]) &^ StatusSessionStateChanged
	binary.LittleEndian.PutUint16(payload[at:], status)
	return end, nil
}

// lastWords looks for the ERR of a backend that stopped reading a command half-way, as one does that finds it too large.
func (s *scan) lastWords() *Error {
	length, head, err := s.header()
	if err != nil {
		told, _ := errors.AsType[*Error](err)
		return told
	}
	if head != headErr || length < 3 {
		return nil
	}
	n := min(length, 16+maxErrorText)
	if err := s.have(headerSize + n); err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	return ParseError(s.src.buf[s.pos+headerSize : s.pos+headerSize+n])
}
