package session

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/route"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// prepared are the session's prepared statements of the binary protocol, by the ids that the client knows.
type prepared struct {
	lastID     uint32
	statements map[uint32]*preparedStatement
	texts      int      // bytes of their texts
	long       *backend // has long data for a statement that is not executed yet
}

// preparedStatement is known to each server it was needed on under that server's own id.
type preparedStatement struct {
	id     uint32
	text   []byte    // as the client sent it: what decisions look at
	cut    bool      // text is only the beginning: no other server can be told of the statement
	seen   statement // the text as examined last, without settings
	sent   []byte    // as servers know it; nil when no rule has rewritten it
	schema string    // in which its names were looked up
	params int
	home   *backend // where it was prepared, or ran last
	cursor *backend // where it has an open cursor
	on     map[*backend]*serverStatement

	types   []byte // of the parameters, as last bound by the client
	bound   int    // parameters that the types are of, with query attributes
	binding int    // counts changes of types

	longSent bool  // long data waits for the EXECUTE
	longErr  error // why long data is missing: the EXECUTE will tell
}

type serverStatement struct {
	id      uint32
	binding int // the types that the server knows
}

// maxPrepared bounds the statements of one session, as MySQL's max_prepared_stmt_count bounds those of a server.
const maxPrepared = 16382

// maxPreparedTexts bounds the bytes of the texts that a session's statements are remembered by.
const maxPreparedTexts = 64 << 20

// errLongLost tells of long data that went with its connection.
var errLongLost = mysql.NewError(codeLostBackend, "08S01", "Lost connection to server together with long data of the statement")

// forget drops what servers knew over a connection that is gone.
func (p *prepared) forget(b *backend) {
	wasLong := p.long == b
	if wasLong {
		p.long = nil
	}
	for _, ps := range p.statements {
		if wasLong && ps.longSent {
			ps.longSent, ps.longErr = false, errLongLost
		}
		delete(ps.on, b)
		if ps.cursor == b {
			ps.cursor = nil
		}
		if ps.home == b {
			ps.home = nil
		}
	}
}

// prepare routes and runs COM_STMT_PREPARE.
func (s *session) prepare(ctx context.Context, cmd *mysql.Command) error {
	if err := s.gather(cmd, 1+maxDecided); err != nil {
		return s.fail(ctx, err)
	}
	if e := s.prepared.full(len(cmd.Arg())); e != nil {
		return s.client.WriteError(e)
	}
	st := s.examine(cmd.Arg())
	st.kind.read = st.kind.read && cmd.Complete // what is streamed can't be sent again
	if st.kind.kill {                           // its id would have to be translated
		return s.client.WriteError(mysql.NewError(codeNotPreparable, "HY000", "KILL is not supported in the prepared statement protocol"))
	}
	s.decide(ctx, &st, decisionv1.Command_COMMAND_PREPARE)
	if !cmd.Complete && rewritten(st.answer) != nil {
		return s.prepareWhole(ctx, cmd) // only its beginning was rewritten
	}
	if done, err := s.obey(ctx, &st); done || err != nil {
		return err
	}
	ps := &preparedStatement{
		text: bytes.Clone(st.text), cut: !cmd.Complete, sent: rewritten(st.answer), schema: s.state.schema, on: map[*backend]*serverStatement{},
	}
	if ps.sent != nil {
		if ps.cut {
			return s.prepareWhole(ctx, cmd) // the answer has changed during a delay
		}
		s.become(&st, ps.sent)
	}
	s.prepared.lastID++
	ps.id = s.prepared.lastID
	st.prepare = ps
	return s.run(ctx, cmd, &st, ps.sent)
}

// prepareWhole is prepare for a large statement that the gateway has to know to its end.
func (s *session) prepareWhole(ctx context.Context, cmd *mysql.Command) error {
	if err := s.gatherWhole(cmd); err != nil {
		return s.fail(ctx, err)
	}
	return s.prepare(ctx, cmd)
}

// full refuses a statement with so many bytes of text when the session has too many already.
func (p *prepared) full(text int) *mysql.Error {
	switch {
	case len(p.statements) >= maxPrepared:
		return mysql.NewError(codeStatementLimit, "42000",
			"Can't create more than max_prepared_stmt_count statements (current value: %d)", maxPrepared)
	case p.texts+text > maxPreparedTexts:
		return mysql.NewError(codeStatementLimit, "42000",
			"Can't create more prepared statements: the texts of this connection's %d have %d bytes, and the gateway keeps at most %d",
			len(p.statements), p.texts, maxPreparedTexts)
	}
	return nil
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
	s.prepared.texts += len(ps.text)
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

// unknownStatement says what servers say.
func (s *session) unknownStatement(cmd *mysql.Command, what string) error {
	var id [4]byte
	copy(id[:], cmd.Arg())
	return s.client.WriteError(mysql.NewError(mysql.CodeUnknownStatement, "HY000",
		"Unknown prepared statement handler (%d) given to %s", binary.LittleEndian.Uint32(id[:]), what))
}

// errCut tells that a statement can't be made known to another server. Clients that can will prepare it again.
var errCut = mysql.NewError(mysql.CodeUnknownStatement, "HY000", "Unknown prepared statement handler given to mysqld_stmt_execute: "+
	"statements of more than %d bytes stay on the connection that they were prepared on, and that is gone or the session is held on another one", maxDecided)

// execute routes and runs COM_STMT_EXECUTE: where the statement was prepared as long as decisions lead there, else it
// is prepared anew where they do.
func (s *session) execute(ctx context.Context, cmd *mysql.Command) error {
	if err := s.gather(cmd, 1+maxDecided); err != nil {
		return s.fail(ctx, err)
	}
	ps := s.statementOf(cmd)
	if ps == nil {
		return s.unknownStatement(cmd, "mysqld_stmt_execute")
	}
	if err := ps.longErr; err != nil {
		ps.longErr = nil
		s.setLong(ps, false)
		return s.fail(ctx, err)
	}
	if err := s.noteTypes(ps, cmd); err != nil {
		return s.fail(ctx, err)
	}
	st := s.examineExecute(ctx, ps)
	st.kind.read = st.kind.read && cmd.Complete // what is streamed can't be sent again
	if done, err := s.obey(ctx, &st); done || err != nil {
		s.setLong(ps, false)
		return err
	}
	return s.run(ctx, cmd, &st, nil)
}

// examineExecute classifies what servers get to see, and has the text routed that the client prepared.
func (s *session) examineExecute(ctx context.Context, ps *preparedStatement) statement {
	st := s.examinePrepared(ps)
	s.decide(ctx, &st, decisionv1.Command_COMMAND_EXECUTE)
	if ps.sent != nil {
		s.become(&st, ps.sent)
	}
	st.execute = ps
	return st
}

// examinePrepared examines the text once in each generation.
func (s *session) examinePrepared(ps *preparedStatement) statement {
	snap := s.Snapshots.Current()
	if ps.seen.text == nil || ps.seen.generation != snap.Generation {
		st := s.examine(ps.text)
		st.digest, st.whole, st.comment = bytes.Clone(st.digest), bytes.Clone(st.whole), bytes.Clone(st.comment) // they were the buffer's
		st.textHash = route.HashOf(st.text)
		st.settings = nil // would keep an old snapshot in memory
		ps.seen = st
	}
	st := ps.seen
	st.settings = &snap.Settings
	return st
}

// executedOn takes over what the response to an EXECUTE said.
func (s *session) executedOn(ps *preparedStatement, b *backend, out *mysql.Outcome) {
	s.setLong(ps, false)
	if out.StatusKnown && out.Status&mysql.StatusCursorExists != 0 {
		ps.setCursor(b)
	} else {
		ps.setCursor(nil)
	}
}

// setCursor notes where the statement has an open cursor; nil: nowhere.
func (ps *preparedStatement) setCursor(b *backend) {
	if ps.cursor != nil {
		ps.cursor.cursors--
	}
	if b != nil {
		b.cursors++
	}
	ps.cursor = b
}

// setLong notes whether long data of the statement waits on its server.
func (s *session) setLong(ps *preparedStatement, sent bool) {
	if ps.longSent == sent {
		return
	}
	ps.longSent = sent
	if sent {
		s.prepared.long = ps.home
		return
	}
	for _, other := range s.prepared.statements {
		if other.longSent {
			return
		}
	}
	s.prepared.long = nil
}

// homeOf gives the connection that the statement was prepared on, if it is one of the hostgroup and its server is
// still to be used. Of pools the session has one server anyway.
func (s *session) homeOf(ps *preparedStatement, at *place) *backend {
	if ps == nil || ps.home == nil || len(at.pools) > 0 || ps.home.key.hostgroup != at.hostgroup {
		return nil
	}
	hg := at.snap.Hostgroup(at.hostgroup)
	if hg == nil || !hg.Online(ps.home.key.addr) || !s.alive(ps.home) {
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
		if ps.cut {
			return nil, errCut
		}
		id, err := s.prepareAnew(ctx, ps, b)
		if err != nil {
			return nil, err
		}
		on = &serverStatement{id: id}
		ps.on[b] = on
	}
	ps.home = b
	binary.LittleEndian.PutUint32(cmd.Payload[1:], on.id)
	if cmd.Code != mysql.ComStmtExecute {
		return nil, nil
	}
	e, err := s.client.Execution(ps.params)
	if err != nil || e.Params == 0 {
		return nil, nil //nolint:nilerr // malformed: the server says so
	}
	if e.Bound {
		on.binding = ps.binding
	}
	if on.binding == ps.binding || e.Params != ps.bound {
		return nil, nil
	}
	if err := s.gatherWhole(cmd); err != nil {
		return nil, err
	}
	on.binding = ps.binding
	text := make([]byte, 0, len(cmd.Payload)+len(ps.types))
	text = append(text, cmd.Payload[1:e.Flag]...)
	text = append(text, 1)
	text = append(text, ps.types...)
	return append(text, cmd.Payload[e.Flag+1:]...), nil
}

// prepareAnew makes a statement known to another server, in the schema that was in force when the client prepared it.
func (s *session) prepareAnew(ctx context.Context, ps *preparedStatement, b *backend) (id uint32, err error) {
	if ps.schema != "" && ps.schema != b.schema {
		if _, err := b.InitDB(ctx, ps.schema); err != nil {
			return 0, err
		}
		b.schema = ps.schema
	}
	text := ps.sent
	if text == nil {
		text = ps.text
	}
	err = b.Conn.Within(ctx, func() error {
		out, err := b.Conn.Exec(mysql.ComStmtPrepare, text)
		id = out.Prepared.ID
		return err
	})
	if err != nil {
		return 0, err
	}
	return id, s.sync(ctx, b, true)
}

// noteTypes remembers the parameter types that an EXECUTE brings: clients send them once.
func (s *session) noteTypes(ps *preparedStatement, cmd *mysql.Command) error {
	e, err := s.client.Execution(ps.params)
	if err != nil && !cmd.Complete {
		if err := s.gatherWhole(cmd); err != nil {
			return err
		}
		e, err = s.client.Execution(ps.params)
	}
	if err != nil || !e.Bound || e.Params == ps.bound && bytes.Equal(e.Types, ps.types) {
		return nil //nolint:nilerr // malformed: the server says so
	}
	ps.types, ps.bound = append(ps.types[:0], e.Types...), e.Params
	ps.binding++
	return nil
}

// sendLongData forwards a part of a parameter. It has no response, so errors show at the EXECUTE.
func (s *session) sendLongData(ctx context.Context, cmd *mysql.Command) error {
	if err := s.gather(cmd, 1+maxDecided); err != nil {
		return s.fail(ctx, err)
	}
	ps := s.statementOf(cmd)
	if ps == nil {
		return nil
	}
	st := s.examineExecute(ctx, ps)
	b, err := s.ready(ctx, &st)
	if err == nil {
		_, err = s.prepareOn(ctx, ps, b, cmd)
	}
	if err != nil {
		s.log.Warn("long data not sent", "error", err)
		if ps.longErr == nil {
			ps.longErr = err
		}
		return nil
	}
	s.setLong(ps, true)
	if _, err := mysql.Relay(s.client, b.Conn, mysql.Request{}); err != nil {
		if isClientGone(err) {
			_ = b.Conn.Close() // in the middle of the data
			s.backends.drop(b)
			return err
		}
		_ = s.lost(b, err) // the EXECUTE will tell
	}
	return nil
}

// onStatement runs COM_STMT_FETCH and COM_STMT_RESET where the statement ran last.
func (s *session) onStatement(ctx context.Context, cmd *mysql.Command) error {
	if err := s.gatherWhole(cmd); err != nil {
		return s.fail(ctx, err)
	}
	ps := s.statementOf(cmd)
	if ps == nil {
		what := "mysqld_stmt_reset"
		if cmd.Code == mysql.ComStmtFetch {
			what = "mysqld_stmt_fetch"
		}
		return s.unknownStatement(cmd, what)
	}
	if cmd.Code == mysql.ComStmtReset {
		ps.longErr = nil
	}
	if ps.home == nil || ps.on[ps.home] == nil {
		if cmd.Code == mysql.ComStmtReset {
			return s.client.WriteOK(mysql.OK{Status: s.status()}) // there is nothing left to reset
		}
		return s.unknownStatement(cmd, "mysqld_stmt_fetch")
	}
	st := statement{settings: &s.Snapshots.Current().Settings, answer: toDefault(ps.home.key.hostgroup), on: ps.home}
	binary.LittleEndian.PutUint32(cmd.Payload[1:], ps.on[ps.home].id)
	if cmd.Code == mysql.ComStmtReset {
		s.setLong(ps, false)
		ps.setCursor(nil)
	}
	return s.run(ctx, cmd, &st, nil)
}

// closeStatement forgets a statement here and on all servers. It has no response.
func (s *session) closeStatement(cmd *mysql.Command) error {
	ps := s.statementOf(cmd)
	if ps == nil {
		return nil
	}
	s.setLong(ps, false)
	ps.setCursor(nil)
	delete(s.prepared.statements, ps.id)
	s.prepared.texts -= len(ps.text)
	for b, on := range ps.on {
		var id [4]byte
		binary.LittleEndian.PutUint32(id[:], on.id)
		if _, err := b.Conn.Exec(mysql.ComStmtClose, id[:]); err != nil {
			_ = s.lost(b, err) // the next use will find another connection
		}
	}
	return nil
}
