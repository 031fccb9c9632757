package mysql

// OwnCommand is a command of the gateway's own.
type OwnCommand struct {
	Code byte
	Arg  []byte // what follows the command byte; below 16 MiB
}

// ExecAll sends several commands of the gateway's own in one write and then reads their responses, which nobody else
// sees. It ends at the first error, of whatever kind: the connection is then not usable any more, as responses may be left in
// it.
func (c *Conn) ExecAll(commands ...OwnCommand) (Outcome, error) {
	c.out = c.out[:0]
	for _, cmd := range commands {
		c.seq = 0
		c.out = c.packet(c.out, func(b []byte) []byte { return append(append(b, cmd.Code), cmd.Arg...) })
	}
	if err := c.write(c.out); err != nil {
		return Outcome{}, backendError("write", err)
	}
	s := &c.scan
	for _, cmd := range commands {
		form, ok := formOf(cmd.Code)
		if !ok {
			return Outcome{}, ErrUnsupported
		}
		*s = scan{src: c, out: &c.outcome, pos: c.r, first: true, seq: 1}
		*s.out = Outcome{}
		if err := s.response(form); err != nil {
			return *s.out, err
		}
		if s.out.Err != nil {
			return *s.out, s.out.Err
		}
	}
	return *s.out, nil
}
