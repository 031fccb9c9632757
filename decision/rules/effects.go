package rules

// Field names an effect; Effects.Has tells whether it is set.
type Field uint32

// The effects, named as the columns of mysql_query_rules and the annotations.
const (
	CacheTTL Field = 1 << iota
	CacheEmptyResult
	CacheTimeout
	Timeout
	Retries
	Delay
	Reconnect
	MirrorHostgroup
	MirrorFlagOut
	NextQueryFlagIn
	StickyConn
	Multiplex
	GTIDFromHostgroup
	Log
	MaxLagMS
	CreateNewConn
	MinGTID
	ErrorMsg
	OKMsg
)

// Effects are what the caller must do besides sending the statement somewhere. A value counts only if its
// field is in Set. Times are in ms.
type Effects struct {
	Set               Field
	CacheTTL          uint32
	CacheEmptyResult  bool
	CacheTimeout      uint32
	Timeout           uint32
	Retries           uint32
	Delay             uint32
	Reconnect         bool
	MirrorHostgroup   int32
	MirrorFlagOut     int32
	NextQueryFlagIn   int32
	StickyConn        bool
	Multiplex         uint32
	GTIDFromHostgroup int32
	Log               bool
	MaxLagMS          uint32
	CreateNewConn     bool
	MinGTID           []byte // aliases the answer's buffers
	ErrorMsg          string
	OKMsg             string
}

// Has tells whether all of the given fields are set.
func (e *Effects) Has(f Field) bool { return e.Set&f == f }

// override takes over every field that is set in o and leaves the others alone.
func (e *Effects) override(o *Effects) {
	if o.Set == 0 {
		return
	}
	e.Set |= o.Set
	overrideField(o, CacheTTL, &e.CacheTTL, o.CacheTTL)
	overrideField(o, CacheEmptyResult, &e.CacheEmptyResult, o.CacheEmptyResult)
	overrideField(o, CacheTimeout, &e.CacheTimeout, o.CacheTimeout)
	overrideField(o, Timeout, &e.Timeout, o.Timeout)
	overrideField(o, Retries, &e.Retries, o.Retries)
	overrideField(o, Delay, &e.Delay, o.Delay)
	overrideField(o, Reconnect, &e.Reconnect, o.Reconnect)
	overrideField(o, MirrorHostgroup, &e.MirrorHostgroup, o.MirrorHostgroup)
	overrideField(o, MirrorFlagOut, &e.MirrorFlagOut, o.MirrorFlagOut)
	overrideField(o, NextQueryFlagIn, &e.NextQueryFlagIn, o.NextQueryFlagIn)
	overrideField(o, StickyConn, &e.StickyConn, o.StickyConn)
	overrideField(o, Multiplex, &e.Multiplex, o.Multiplex)
	overrideField(o, GTIDFromHostgroup, &e.GTIDFromHostgroup, o.GTIDFromHostgroup)
	overrideField(o, Log, &e.Log, o.Log)
	overrideField(o, MaxLagMS, &e.MaxLagMS, o.MaxLagMS)
	overrideField(o, CreateNewConn, &e.CreateNewConn, o.CreateNewConn)
	overrideField(o, MinGTID, &e.MinGTID, o.MinGTID)
	overrideField(o, ErrorMsg, &e.ErrorMsg, o.ErrorMsg)
	overrideField(o, OKMsg, &e.OKMsg, o.OKMsg)
}

func overrideField[T any](o *Effects, f Field, to *T, from T) {
	if o.Set&f != 0 {
		*to = from
	}
}
