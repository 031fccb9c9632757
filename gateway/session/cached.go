package session

import (
	"context"
	"time"

	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/resultcache"
)

// maxCachedText is the longest statement whose result is cached, in bytes.
const maxCachedText = 1 << 20

// keeping is how a response is kept for later statements.
type keeping struct {
	key    resultcache.Key
	ttl    time.Duration
	record mysql.Record
}

// replay answers a statement whose rule has cache_ttl from the result cache. When nothing is there, the response is
// recorded.
func (s *session) replay(ctx context.Context, cmd *mysql.Command, st *statement) (hit bool, err error) {
	largest := s.Results.Largest()
	if largest == 0 || len(cmd.Payload) > maxCachedText || !s.isPlainRead(st) {
		return false, nil
	}
	at, err := s.destination(ctx, st)
	if err != nil {
		return false, nil //nolint:nilerr // the run will meet the same
	}
	text, err := s.client.QueryText()
	if err != nil {
		return false, err
	}
	attributes := cmd.Arg()[:len(cmd.Arg())-len(text)]
	k := &keeping{
		key: s.resultKey(st, at, attributes), ttl: time.Duration(st.answer.GetCacheTtlMs()) * time.Millisecond, record: mysql.Record{Limit: largest},
	}
	response, hit := s.Results.Get(k.key, k.ttl, time.Now())
	if !hit {
		st.keep = k
		return false, nil
	}
	return true, s.client.Replay(response)
}

// isPlainRead tells whether any session that sees the same schema and variables gets the same response: nothing holds the session, and
// the statement depends on none before it.
func (s *session) isPlainRead(st *statement) bool {
	state := &s.state
	switch {
	case !st.kind.read, st.kind.needsLast, st.kind.needsInsert, s.startsUnit(st), s.held(st) != nil,
		state.transaction != nil, state.autocommitOff, state.last != nil && state.last.uncertain:
		return false
	}
	o := DefaultMultiplexOptions()
	o.Text = st.text
	flags, _ := StatementFlags(st.digest, o)
	return flags&FoundRows == 0
}

// resultKey is made of all that a response depends on besides the data.
func (s *session) resultKey(st *statement, at *place, attributes []byte) resultcache.Key {
	k := resultcache.NewKeyMaker()
	k.String(s.login.User)
	k.String(s.state.schema)
	k.Number(uint64(s.login.Capabilities))
	k.Number(uint64(s.login.Charset))
	k.Number(uint64(len(s.state.vars)))
	for _, v := range s.state.vars {
		k.String(v.name)
		k.String(v.value)
	}
	k.Bytes(s.state.option)
	where := at.key()
	k.Number(uint64(uint32(where.hostgroup)))
	k.String(where.pool)
	k.Bytes(attributes)
	k.Bytes(st.text)
	return k.Key()
}

// keepResponse keeps a recorded response: one result set without warnings, from which nothing but its rows has followed.
func (s *session) keepResponse(st *statement, out *mysql.Outcome) {
	k := st.keep
	const allowed = mysql.StatusInTrans | mysql.StatusInTransReadonly | mysql.StatusMoreResultsExists | mysql.StatusAutocommit
	if out.Err != nil || out.Results != 1 || out.Warnings != 0 || out.Track != nil || !out.StatusKnown ||
		out.Status&allowed != mysql.StatusAutocommit || k.record.TooLong || !k.record.HasRows() {
		return
	}
	if out.Rows == 0 {
		stores := st.settings.QueryCacheStoresEmpty
		if st.answer.CacheEmptyResult != nil {
			stores = st.answer.GetCacheEmptyResult()
		}
		if !stores {
			return
		}
	}
	s.Results.Put(k.key, k.record.Response, k.ttl, time.Now())
}
