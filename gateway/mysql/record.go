package mysql

// Record is a copy of a response as the client was sent it.
type Record struct {
	Limit    int    // the most bytes that are copied
	Response []byte // what was copied; nil when it is too long
	TooLong  bool
}

func (r *Record) add(b []byte) {
	if r.TooLong || len(r.Response)+len(b) > r.Limit {
		r.Response, r.TooLong = nil, true
		return
	}
	r.Response = append(r.Response, b...)
}

// HasRows tells whether the copied response begins with a result set, not with an OK, an ERR, or a request for a file.
func (r *Record) HasRows() bool {
	if len(r.Response) <= headerSize {
		return false
	}
	switch r.Response[headerSize] {
	case headOK, headErr, headInfile, headEOF:
		return false
	}
	return true
}

// Replay answers the current command, of one packet, with a recorded response to another one of one packet.
func (c *Conn) Replay(response []byte) error {
	if err := c.Drain(); err != nil {
		return err
	}
	return c.write(response)
}
