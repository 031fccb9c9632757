package session

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"

	"github.com/pointsman/pointsman/gateway/mysql"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// prepared are the session's prepared statements of the binary protocol, by the ids that the client knows.
type prepared struct {
	lastID     uint32
	statements map[uint32]*preparedStatement
	busy       *backend // holds long data or an open cursor
}

// preparedStatement is known to each server it was needed on under that server's own id.
type preparedStatement struct {
	id     uint32
	text   []byte // as the client sent it: what decisions look at
	sent   []byte // as servers know it, rewritten perhaps
	params int
	home   *backend // where it was prepared, or ran last
	on     map[*backend]*serverStatement
	types  []byte // of the parameters, as last bound by the client
}

type serverStatement struct {
	id    uint32
	bound bool // the server knows the parameters' types
}

// maxPrepared bounds the statements of one session, as MySQL's max_prepared_stmt_count bounds those of a server.
const maxPrepared = 16382

// forget drops what servers knew over a connection that is gone.
func (p *prepared) forget(b *backend) {
	if p.busy == b {
		p.busy = nil
	}
	for _, ps := range p.statements {
		delete(ps.on, b)
		if ps.home == b {
			ps.home = nil
		}
	}
}

// prepare routes and runs COM_STMT_PREPARE.
func (s *session) prepare(ctx context.Context, cmd *mysql.Command) error {
	if err := s.gather(cmd); err != nil {
		return err
	}
	if len(s.prepared.statements) >= maxPrepared {
		return s.client.WriteError(mysql.NewError(1461, "42000",
			"Can't create more than max_prepared_stmt_count statements (current value: %d)", maxPrepared))
	}
	st := s.examine(cmd.Arg())
	s.decide(ctx, &st, decisionv1.Command_COMMAND_PREPARE)
	if done, err := s.obey(ctx, &st); done || err != nil {
		return err
	}
	ps := &preparedStatement{text: bytes.Clone(st.text), on: map[*backend]*serverStatement{}}
	ps.sent = s.rewritten(&st)
	text := ps.sent
	if ps.sent == nil {
		ps.sent = ps.text
	}
	s.prepared.lastID++
	ps.id = s.prepared.lastID
	st.prepare = ps
	return s.run(ctx, cmd, &st, text)
}

// preparedOn notes a statement that a server has prepared for the client.
func (s *session) preparedOn(ps *preparedStatement, b *backend, out *mysql.Outcome) {
	if s.prepared.statements == nil {
		s.prepared.statements = map[uint32]*preparedStatement{}
	}
	ps.params = int(out.Prepared.Params)
	ps.home = b
	ps.on[b] = &serverStatement{id: out.Prepared.ID}
	s.prepared.statements[ps.id] = ps
}

// lastPrepared is the id by which MariaDB clients mean the statement prepared last.
const lastPrepared = 0xFFFFFFFF

// statementOf finds the statement that a command names, nil when there is none.
func (s *session) statementOf(cmd *mysql.Command) *preparedStatement {
	arg := cmd.Arg()
	if len(arg) < 4 {
		return nil
	}
	id := binary.LittleEndian.Uint32(arg)
	if id == lastPrepared {
		id = s.prepared.lastID
	}
	return s.prepared.statements[id]
}

func (s *session) unknownStatement(what string) error {
	return s.client.WriteError(mysql.NewError(mysql.CodeUnknownStatement, "HY000", "Unknown prepared statement handler given to %s", what))
}

// execute routes and runs COM_STMT_EXECUTE: where the statement was prepared as long as decisions lead there, else it
// is prepared anew where they do.
func (s *session) execute(ctx context.Context, cmd *mysql.Command) error {
	if err := s.gather(cmd); err != nil {
		return err
	}
	ps := s.statementOf(cmd)
	if ps == nil {
		return s.unknownStatement("mysqld_stmt_execute")
	}
	ps.noteTypes(cmd.Payload)
	st := s.examine(ps.text)
	s.decide(ctx, &st, decisionv1.Command_COMMAND_EXECUTE)
	if done, err := s.obey(ctx, &st); done || err != nil {
		return err
	}
	st.execute = ps
	return s.run(ctx, cmd, &st, nil)
}

// homeOf gives the connection that the statement was prepared on, if the answer still leads to its hostgroup.
func (s *session) homeOf(ps *preparedStatement, st *statement) *backend {
	if ps == nil {
		return nil
	}
	if s.prepared.busy != nil && ps.on[s.prepared.busy] != nil {
		return s.prepared.busy // long data of this statement is there
	}
	h := st.answer.DestinationHostgroup
	if ps.home == nil || h == nil || ps.home.hostgroup != *h || !ps.home.Alive() {
		return nil
	}
	return ps.home
}

// prepareOn makes sure that the server of b knows the statement, and gives the payload of an EXECUTE as that server must
// get it: with its own id and with types if it has not got them yet. nil means the client's command as it is, whose id
// has been replaced in place.
func (s *session) prepareOn(ctx context.Context, ps *preparedStatement, b *backend, cmd *mysql.Command) ([]byte, error) {
	on := ps.on[b]
	if on == nil {
		var out mysql.Outcome
		err := b.Conn.Within(ctx, func() error {
			var err error
			out, err = b.Conn.Exec(mysql.ComStmtPrepare, ps.sent)
			return err
		})
		if err != nil {
			return nil, err
		}
		on = &serverStatement{id: out.Prepared.ID}
		ps.on[b] = on
	}
	ps.home = b
	binary.LittleEndian.PutUint32(cmd.Payload[1:], on.id)
	if cmd.Code != mysql.ComStmtExecute || ps.params == 0 {
		return nil, nil
	}
	at := ps.boundFlag()
	if len(cmd.Payload) <= at {
		return nil, nil // malformed: the server says so
	}
	if cmd.Payload[at] == 1 || on.bound || len(ps.types) == 0 {
		on.bound = on.bound || cmd.Payload[at] == 1
		return nil, nil
	}
	on.bound = true
	text := make([]byte, 0, len(cmd.Payload)+len(ps.types))
	text = append(text, cmd.Payload[1:at]...)
	text = append(text, 1)
	text = append(text, ps.types...)
	return append(text, cmd.Payload[at+1:]...), nil
}

// boundFlag is the place of new-params-bound in an EXECUTE's payload: after command, id, flags, iterations and the
// bitmap of NULLs.
func (ps *preparedStatement) boundFlag() int { return 1 + 4 + 1 + 4 + (ps.params+7)/8 }

// noteTypes remembers the parameter types that an EXECUTE brings: clients send them once.
func (ps *preparedStatement) noteTypes(payload []byte) {
	at := ps.boundFlag()
	if ps.params == 0 || len(payload) < at+1+2*ps.params || payload[at] != 1 {
		return
	}
	ps.types = append(ps.types[:0], payload[at+1:at+1+2*ps.params]...)
}

// sendLongData forwards a part of a parameter. It has no response, so errors show at the EXECUTE.
func (s *session) sendLongData(ctx context.Context, cmd *mysql.Command) error {
	if err := s.gather(cmd); err != nil {
		return err
	}
	ps := s.statementOf(cmd)
	if ps == nil {
		return nil
	}
	st := s.examine(ps.text)
	s.decide(ctx, &st, decisionv1.Command_COMMAND_EXECUTE)
	st.execute = ps
	b, err := s.ready(ctx, &st)
	if err == nil {
		_, err = s.prepareOn(ctx, ps, b, cmd)
	}
	if err != nil {
		s.log.Warn("long data not sent", "error", err)
		return nil
	}
	s.prepared.busy = b
	if _, err := mysql.Relay(s.client, b.Conn, mysql.Request{}); err != nil {
		var side *mysql.SideError
		if errors.As(err, &side) && side.Side == mysql.SideClient {
			return err
		}
		_ = s.lost(b, err) // the EXECUTE will tell
	}
	return nil
}

// onStatement runs COM_STMT_FETCH and COM_STMT_RESET where the statement ran last.
func (s *session) onStatement(ctx context.Context, cmd *mysql.Command) error {
	if err := s.gather(cmd); err != nil {
		return err
	}
	ps := s.statementOf(cmd)
	if ps == nil {
		what := "mysqld_stmt_reset"
		if cmd.Code == mysql.ComStmtFetch {
			what = "mysqld_stmt_fetch"
		}
		return s.unknownStatement(what)
	}
	if ps.home == nil || ps.on[ps.home] == nil {
		if cmd.Code == mysql.ComStmtReset {
			return s.client.WriteOK(mysql.OK{Status: s.status()}) // there is nothing left to reset
		}
		return s.unknownStatement("mysqld_stmt_fetch")
	}
	st := statement{settings: &s.Snapshots.Current().Settings, answer: fastForward(ps.home.hostgroup), on: ps.home}
	binary.LittleEndian.PutUint32(cmd.Payload[1:], ps.on[ps.home].id)
	if cmd.Code == mysql.ComStmtReset && s.prepared.busy == ps.home {
		s.prepared.busy = nil
	}
	return s.run(ctx, cmd, &st, nil)
}

// closeStatement forgets a statement here and on all servers. It has no response.
func (s *session) closeStatement(cmd *mysql.Command) error {
	ps := s.statementOf(cmd)
	if ps == nil {
		return nil
	}
	delete(s.prepared.statements, ps.id)
	for b, on := range ps.on {
		var id [4]byte
		binary.LittleEndian.PutUint32(id[:], on.id)
		if _, err := b.Conn.Exec(mysql.ComStmtClose, id[:]); err != nil {
			_ = s.lost(b, err) // the next use will find another connection
		}
	}
	return nil
}
