package session

import (
	"bytes"
	"context"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/decision/digest"
	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/route"
	"github.com/pointsman/pointsman/gateway/snapshot"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// maxDecided is how much of a command is read before it is sent on. A larger statement is decided by its beginning, and the
// rest is streamed to the server.
const maxDecided = 1 << 20

// maxStatement is the most bytes of a command that is needed whole, because it is rewritten: what a question may carry.
const maxStatement = 64 << 20

// statement is one statement on its way.
type statement struct {
	text       []byte
	digest     []byte     // digest text, as rules see it; made also when digests are off
	whole      []byte     // likewise, as servers see it: with what executable comments hold
	sum        uint64     // its hash, as ProxySQL has it
	hash       route.Hash // of the digest text, seeded
	textHash   route.Hash // of the text, when it is known
	comment    []byte     // the first comment; nil when there is none
	kind       kind
	answer     *decisionv1.RouteStatementResponse
	at         place // by the answer, as it was chosen last
	settings   *snapshot.Settings
	generation uint64             // that the settings are of
	command    decisionv1.Command // that it was decided as
	delayed    time.Duration      // so far
	undecided  bool               // there was no answer in time, and the statement shall not go on without

	prepare *preparedStatement // being prepared
	execute *preparedStatement // being executed
	on      *backend           // the only place it can run, unless nil
	keep    *keeping           // how its response is kept; nil: it is not
}

// query routes and runs COM_QUERY.
func (s *session) query(ctx context.Context, cmd *mysql.Command) error {
	if err := s.gather(cmd, 1+maxDecided); err != nil {
		return s.fail(ctx, err)
	}
	text, err := s.client.QueryText()
	if err != nil {
		return s.fail(ctx, mysql.NewError(codeMalformed, "HY000", "Malformed communication packet: %v", err))
	}
	st := s.examine(text)
	st.kind.read = st.kind.read && cmd.Complete // what is streamed can't be sent again
	switch {
	case !cmd.Complete && (st.kind.kill || st.kind.use):
		return s.queryWhole(ctx, cmd)
	case st.kind.kill:
		if handled, err := s.killStatement(ctx, &st); handled {
			return err
		}
	case st.kind.use:
		return s.atHome(ctx, cmd) // the server says whether the schema exists; rules have no say, as in ProxySQL
	}
	s.decide(ctx, &st, decisionv1.Command_COMMAND_QUERY)
	if !cmd.Complete && rewritten(st.answer) != nil {
		return s.queryWhole(ctx, cmd) // only its beginning was rewritten
	}
	if done, err := s.obey(ctx, &st); done || err != nil {
		return err
	}
	text = rewritten(st.answer)
	if text != nil {
		if !cmd.Complete {
			return s.queryWhole(ctx, cmd) // the answer has changed during a delay
		}
		s.become(&st, text)
	}
	if st.answer.GetMirror() != nil {
		s.mirror(cmd, &st)
	}
	if st.answer.GetCacheTtlMs() > 0 {
		if hit, err := s.replay(ctx, cmd, &st); hit {
			return err
		}
	}
	return s.run(ctx, cmd, &st, text)
}

// queryWhole is query for a large statement that the gateway has to know to its end.
func (s *session) queryWhole(ctx context.Context, cmd *mysql.Command) error {
	if err := s.gatherWhole(cmd); err != nil {
		return s.fail(ctx, err)
	}
	return s.query(ctx, cmd)
}

// become makes a statement what a rule has rewritten it to. Its destination stays.
func (s *session) become(st *statement, text []byte) {
	r := s.examine(text)
	st.text, st.textHash, st.digest, st.whole, st.sum, st.hash, st.comment, st.kind = r.text, r.textHash, r.digest, r.whole, r.sum, r.hash, r.comment, r.kind
}

// gather reads on until the command is whole or limit bytes of it are there. Errors are the client's connection's.
func (s *session) gather(cmd *mysql.Command, limit int) error {
	if cmd.Complete {
		return nil
	}
	if err := s.client.Gather(limit); err != nil {
		return &mysql.SideError{Side: mysql.SideClient, Op: "read", Err: err}
	}
	return nil
}

// gatherWhole reads the whole command. One beyond the limit is an error for the client, after which the session ends.
func (s *session) gatherWhole(cmd *mysql.Command) error {
	if err := s.gather(cmd, maxStatement+1); err != nil {
		return err
	}
	if !cmd.Complete {
		return mysql.NewError(mysql.CodePacketTooLarge, "08S01",
			"Got a packet bigger than the gateway's limit of %d bytes for commands that it has to change", maxStatement)
	}
	return nil
}

// examine digests and classifies a statement.
func (s *session) examine(text []byte) statement {
	snap := s.Snapshots.Current()
	st := statement{text: text, settings: &snap.Settings, generation: snap.Generation}
	res := digest.Compute(&s.buffer, text, &st.settings.DigestOptions)
	st.digest, st.sum, st.hash = res.Text, res.Hash, route.HashOfDigest(res.Text, res.Hash)
	if res.HasComment {
		st.comment = res.FirstComment
	}
	if st.whole = withExecutable(text, &st.settings.DigestOptions); st.whole == nil {
		st.whole = st.digest
	}
	st.kind = s.kindOf(st.whole)
	if len(text) > st.settings.DigestOptions.MaxQueryLength {
		st.kind.read = false // the digest may lack the end
	}
	return st
}

// withExecutable gives the digest text of a statement with what MariaDB and MySQL run inside of comments, where rules see it as a
// comment: in those of MariaDB alone, and in all when the digests of rules keep comments. nil: there is nothing of the kind.
func withExecutable(text []byte, o *digest.Options) []byte {
	text = text[:min(len(text), o.MaxQueryLength)]
	mariaDB := bytes.Contains(text, []byte("/*M!"))
	if !mariaDB && (!o.KeepComment || !bytes.Contains(text, []byte("/*!"))) {
		return nil
	}
	if mariaDB {
		text = bytes.ReplaceAll(text, []byte("/*M!"), []byte("/*!"))
	}
	plain := *o
	plain.KeepComment = false
	return digest.Compute(&digest.Buffer{}, text, &plain).Text
}

// A session remembers so many classifications, of digest texts up to that length.
const maxKinds, maxKindLength = 256, 2048

func (s *session) kindOf(digestText []byte) kind {
	k, ok := s.kinds[string(digestText)]
	if ok {
		return k
	}
	text := string(digestText)
	k = classify(text)
	k.text = text
	if len(text) <= maxKindLength {
		if len(s.kinds) >= maxKinds {
			clear(s.kinds)
		}
		s.kinds[text] = k
	}
	return k
}

// decide finds a statement's answer and the place that it leads to. The answer is shared with other sessions and must not be
// changed. A refusal that is out of date when it comes is asked about again, once in each generation.
func (s *session) decide(ctx context.Context, st *statement, command decisionv1.Command) {
	st.command = command
	for {
		asked := s.Snapshots.Current()
		s.Router.Observe(asked.Generation) // the holder may be just about to
		source := s.ask(ctx, st, asked)
		snap := s.Snapshots.Current()
		if outdated(st.answer, snap) && ctx.Err() == nil {
			if snap.Generation > asked.Generation {
				continue
			}
			if source == route.Stale { // nobody can say what rules say of it now
				st.answer = toDefault(s.route.DefaultHostgroup)
			}
		}
		st.undecided = source == route.Refused
		s.choose(ctx, st, snap)
		return
	}
}

// ask asks the router.
func (s *session) ask(ctx context.Context, st *statement, snap *snapshot.Snapshot) (source route.Source) {
	s.look(snap)
	u := snap.User(s.login.User)
	if u == nil { // removed since the login: the service would refuse to answer
		st.answer = toDefault(s.route.DefaultHostgroup)
		s.Metrics.decision(st.answer, route.Default)
		return route.Default
	}
	s.route.DefaultHostgroup = u.GetDefaultHostgroup()
	if u.GetFastForward() {
		st.answer = fastForward(u.GetDefaultHostgroup())
		s.Metrics.fastForward.Inc()
		return route.Default
	}
	q := route.Statement{Text: st.text, TextHash: st.textHash, Command: st.command}
	if st.settings.Digests {
		q.Generation = st.generation
		q.DigestText, q.DigestHash, q.FirstComment = st.digest, st.hash, st.comment
	}
	st.answer, source = s.Router.Decide(ctx, &s.route, &q)
	if source != route.Cached {
		now := s.clock()
		s.Metrics.deciding.Observe((now - s.decidingAt).Seconds())
		s.decidingAt = now
	}
	s.Metrics.decision(st.answer, source)
	return source
}

// fastForward sends everything to one hostgroup and there to one connection.
func fastForward(hostgroup int32) *decisionv1.RouteStatementResponse {
	a := toDefault(hostgroup)
	a.Multiplex = proto.Uint32(0)
	return a
}

// toDefault is the answer for what is not routed.
func toDefault(hostgroup int32) *decisionv1.RouteStatementResponse {
	return &decisionv1.RouteStatementResponse{
		DestinationHostgroup: new(hostgroup), Reason: decisionv1.Reason_REASON_DEFAULT_HOSTGROUP,
	}
}

// obey does what an answer demands before a server is asked. done: the client has got its answer. When a refusal goes out of
// date during the delay, the new answer is obeyed.
func (s *session) obey(ctx context.Context, st *statement) (done bool, err error) {
	a := st.answer
	if st.undecided && !s.mustGoOn(st) {
		return true, s.fail(ctx, s.noDecision())
	}
	if a.OkMsg != nil && st.command == decisionv1.Command_COMMAND_PREPARE {
		return false, nil // the EXECUTE is answered so; a PREPARE has another form of answer
	}
	if a.GetLog() {
		s.Log.Info("statement", "session", s.id, "user", s.login.User, "schema", s.route.Schemaname, "client", s.route.ClientAddr,
			"digest", a.GetDigest(), "digest_text", a.GetDigestText(), "hostgroup", a.GetDestinationHostgroup(), "pools", st.at.pools, "reason", a.GetReason().String(),
			"rules", a.GetMatchedRules(), "generation", a.GetGeneration())
	}
	s.Metrics.unsupportedEffects(a)
	switch {
	case a.OkMsg != nil:
		return true, s.client.WriteOK(mysql.OK{Status: s.status(), Info: a.GetOkMsg()})
	case a.ErrorMsg != nil && st.at.refusal == "": // the guideline's refusal waits for what holds the session
		return true, s.client.WriteError(mysql.NewError(codeRuleError, "42000", "%s", a.GetErrorMsg()))
	}
	delay := st.settings.DefaultQueryDelay
	if a.DelayMs != nil {
		delay = time.Duration(a.GetDelayMs()) * time.Millisecond
	}
	if left := delay - st.delayed; left > 0 && st.execute == nil { // as in ProxySQL; its PREPARE was delayed
		if err := pause(ctx, left); err != nil {
			return false, err
		}
		st.delayed = delay
		s.spent += left
		s.decidingAt = s.clock()
		if outdated(a, s.Snapshots.Current()) {
			s.decide(ctx, st, st.command)
			return s.obey(ctx, st)
		}
	}
	if a.NextQueryFlagIn != nil && (s.route.NextQueryFlagIn == nil || *s.route.NextQueryFlagIn != a.GetNextQueryFlagIn()) {
		s.route.NextQueryFlagIn = new(a.GetNextQueryFlagIn())
		s.route.Changed()
	}
	return false, nil
}

// mustGoOn tells whether a statement is better sent without a decision than refused: the end of a transaction, and what belongs to
// an open one, have their server already.
func (s *session) mustGoOn(st *statement) bool { return st.kind.commit || s.state.transaction != nil }

// noDecision refuses a statement that has no answer in time.
func (s *session) noDecision() *mysql.Error {
	return mysql.NewError(codeUnreachable, "HY000",
		"No decision in %s: the decision service is late or away, and --decision-fallback=error lets nothing go on without it", s.Router.Budget())
}

// rewritten is the text to send instead, nil for the client's own.
func rewritten(a *decisionv1.RouteStatementResponse) []byte {
	switch {
	case a.RawRewrittenText != nil:
		return a.GetRawRewrittenText()
	case a.RewrittenText != nil:
		return []byte(a.GetRewrittenText())
	}
	return nil
}

// atHome runs a command that is not routed on the connection that the session used last, else on one of the user's
// default hostgroup.
func (s *session) atHome(ctx context.Context, cmd *mysql.Command) error {
	if err := s.gatherWhole(cmd); err != nil {
		return s.fail(ctx, err)
	}
	snap := s.Snapshots.Current()
	if u := snap.User(s.login.User); u != nil {
		s.route.DefaultHostgroup = u.GetDefaultHostgroup()
	}
	st := statement{settings: &snap.Settings}
	switch cmd.Code {
	case mysql.ComInitDB:
		st.text = cmd.Arg()
		st.kind.use = true
	case mysql.ComQuery:
		text, err := s.client.QueryText()
		if err != nil {
			return err
		}
		st = s.examine(text)
	}
	st.answer = toDefault(s.route.DefaultHostgroup)
	s.choose(ctx, &st, snap)
	st.kind.needsLast = true
	option := bytes.Clone(cmd.Arg())
	if err := s.run(ctx, cmd, &st, nil); err != nil {
		return err
	}
	if last := s.state.last; cmd.Code == mysql.ComSetOption && last != nil && !last.uncertain {
		s.state.option = option
		s.state.optionVersion++
		last.option = s.state.optionVersion
	}
	return nil
}
