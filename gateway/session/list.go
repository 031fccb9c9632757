package session

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Info is what an operator may see of one client connection. Times are in seconds.
type Info struct {
	ID                 uint32  `json:"id"` // as KILL takes it
	User               string  `json:"user"`
	Client             string  `json:"client"`
	Listener           string  `json:"listener"`
	Schema             string  `json:"schema"`
	Hostgroup          *int32  `json:"hostgroup"` // of the last statement's connection; null: there is none
	Server             string  `json:"server"`
	ServerThread       uint32  `json:"server_thread"`
	State              string  `json:"state"`
	Held               string  `json:"held,omitempty"` // what ties the session to its server, besides a transaction
	Seconds            float64 `json:"seconds"`        // in that state
	TransactionSeconds float64 `json:"transaction_seconds"`
	Connected          float64 `json:"connected_seconds"`
	Command            string  `json:"command"`
	Digest             string  `json:"digest"` // hash of the last statement
	DigestText         string  `json:"digest_text"`
	Statements         uint64  `json:"statements"`
	Received           uint64  `json:"received_bytes"` // from the client
	Sent               uint64  `json:"sent_bytes"`     // to it
}

// Filter picks sessions; empty fields take all.
type Filter struct {
	User      string
	Hostgroup *int32
	State     string // the whole, or what comes before a colon
}

func (f *Filter) takes(i *Info) bool {
	return (f.User == "" || f.User == i.User) &&
		(f.Hostgroup == nil || i.Hostgroup != nil && *i.Hostgroup == *f.Hostgroup) &&
		(f.State == "" || f.State == i.State || f.State == pinned && i.State == pinned+": "+i.Held)
}

// The states of sessions.
const (
	stateLogin         = "login"
	stateIdle          = "idle"
	stateDeciding      = "deciding"
	stateWaiting       = "waiting for connection"
	stateRunning       = "running"
	stateSending       = "sending"
	stateInTransaction = "in transaction" // idle, and so is the next one
	pinned             = "pinned"
)

// States gives the states that sessions can be in, for those who ask for one.
func States() []string {
	return []string{
		stateLogin, stateIdle, stateDeciding, stateWaiting, stateRunning, stateSending, stateInTransaction, pinned,
	}
}

// List gives the sessions that the filter takes, those that have been longest in their state first.
func (g *Gateway) List(f Filter) []Info {
	g.mu.Lock()
	all := make([]*session, 0, len(g.all))
	for s := range g.all {
		all = append(all, s)
	}
	g.mu.Unlock()
	names := g.listenerNames()
	now := g.clock()
	list := []Info{}
	for _, s := range all {
		if i := s.info(now, names); f.takes(&i) {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(a, b Info) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.ID, b.ID))
	})
	return list
}

func (g *Gateway) listenerNames() func(i int) string {
	snap := g.Snapshots.Current()
	return func(i int) string {
		if snap == nil {
			return ""
		}
		return snap.View(i).Listener.Name
	}
}

func (s *session) info(now time.Duration, listener func(int) string) Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &s.act
	i := Info{
		ID: s.id, User: a.user, Client: s.remote.String(), Listener: listener(s.listener), Schema: a.schema,
		State: s.stateName(), Held: a.held, Seconds: (now - a.since).Seconds(), Connected: (now - s.connected).Seconds(),
		Statements: a.statements, Received: s.client.Received(), Sent: s.client.Sent(), DigestText: a.digest,
	}
	if a.stage != stageLogin {
		i.Command = commandName(a.command)
	}
	if a.transaction > 0 {
		i.TransactionSeconds = (now - a.transaction).Seconds()
	}
	if a.on != nil {
		i.Hostgroup, i.Server, i.ServerThread = new(a.on.key.hostgroup), a.on.Addr, a.on.ThreadID
	}
	if a.sum != 0 {
		i.Digest = fmt.Sprintf("0x%016X", a.sum)
	}
	return i
}

// stateName names what the session is doing. mu is held.
func (s *session) stateName() string {
	switch a := &s.act; a.stage {
	case stageLogin:
		return stateLogin
	case stageDeciding:
		return stateDeciding
	case stageConnecting:
		return stateWaiting
	case stageRunning:
		if s.client.Sent() != a.sentBefore {
			return stateSending
		}
		return stateRunning
	case stageIdle:
		switch {
		case !a.free:
			return stateInTransaction
		case a.held != "":
			return pinned + ": " + a.held
		}
	}
	return stateIdle
}

// Traffic gives the bytes received from clients and sent to them since Init.
func (g *Gateway) Traffic() (received, sent uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	received, sent = g.Metrics.received.Load(), g.Metrics.sent.Load()
	for s := range g.all {
		received += s.client.Received()
		sent += s.client.Sent()
	}
	return received, sent
}
