package snapshot

import (
	"hash/maphash"
	"net"
	"strconv"
	"time"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/digest"
	"github.com/pointsman/pointsman/decision/selection"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// Snapshot is one state of users, servers, settings, guideline and what is known at run time. It never changes.
type Snapshot struct {
	Generation uint64
	Serial     uint64 // counts snapshots: several may be of one generation
	Settings   Settings
	Rows       []Row // the rows of pools, in the configuration's order
	users      map[string]*configv1.User
	logins     []*configv1.User // those of users that have a password, in the configuration's order
	hostgroups map[int32]*Hostgroup
	message    *configv1.WatchGatewayConfigResponse // that it was made of
	guiding    *guiding
	runtime    *decision.Runtime
	views      []View
}

// Row is one server in one hostgroup.
type Row struct {
	Server
	Hostgroup      int32
	MaxConnections uint32
	Status         selection.Status
	name           string // as the decision service calls the server
}

// Settings are the settings that the gateway obeys.
type Settings struct {
	Digests                 bool // whether statements are digested
	DigestOptions           digest.Options
	DefaultQueryDelay       time.Duration
	DefaultQueryTimeout     time.Duration
	QueryRetriesOnFailure   uint32
	DefaultMaxLatencyMS     uint32
	ConnectTimeoutServer    time.Duration // of one connection
	ConnectTimeoutServerMax time.Duration // of all tries
	ConnectRetriesOnFailure uint32
	ServerVersion           string
	DefaultSchema           string // of sessions that have none
	LockOnHostgroup         bool
	LockOnHostgroupError    bool // 9006 instead of following the lock

	AutocommitFalseIsTransaction bool
	Multiplexing                 bool
	AutoIncrementDelay           uint32        // statements
	AutoIncrementDelayTimeout    time.Duration // 0: none
	FreeConnectionsPct           uint32
	ConnectionMaxAge             time.Duration // 0: no limit
	ConnectionMaxIdle            time.Duration // 0: no limit
	ConnectionWarming            bool
	ThrottleConnectionsPerSec    uint32
	ConnectionQueueLength        uint32
	QueryCacheBytes              int64 // 0: off
	QueryCacheStoresEmpty        bool
	MirrorMaxConcurrency         uint32
	MirrorMaxQueueLength         uint32
	WaitTimeout                  time.Duration // 0: never
}

// Server is one server of a hostgroup.
type Server struct {
	Addr string // "host:port", or the path of a Unix socket
	TLS  bool   // whether to speak TLS
}

// Hostgroup holds the servers of a hostgroup: Candidates.At(i) describes Servers[i].
type Hostgroup struct {
	ID                  int32
	MaxNumOnlineServers uint32
	Attributes          Attributes
	Servers             []Server
	Candidates          *selection.List
}

// Attributes are a hostgroup's own, or the settings' where it has none.
type Attributes struct {
	Multiplex                 bool
	FreeConnectionsPct        uint32
	ConnectionWarming         bool
	ThrottleConnectionsPerSec uint32
}

func attributes(h *configv1.Hostgroup, settings *Settings) Attributes {
	return Attributes{
		Multiplex:                 or(h.Multiplex, settings.Multiplexing),
		FreeConnectionsPct:        or(h.FreeConnectionsPct, settings.FreeConnectionsPct),
		ConnectionWarming:         or(h.ConnectionWarming, settings.ConnectionWarming),
		ThrottleConnectionsPerSec: or(h.ThrottleConnectionsPerSec, settings.ThrottleConnectionsPerSec),
	}
}

// User gives the active user of that name, nil when there is none.
func (s *Snapshot) User(name string) *configv1.User { return s.users[name] }

// decoySeed makes it unforeseeable which user stands in for which name.
var decoySeed = maphash.MakeSeed()

// Decoy gives some active user with a password, always the same for a name that nobody has, so that a login of that name can
// go through a real one's steps. nil when there is none.
func (s *Snapshot) Decoy(name string) *configv1.User {
	if len(s.logins) == 0 {
		return nil
	}
	return s.logins[maphash.String(decoySeed, name)%uint64(len(s.logins))]
}

// Logins gives the active users that have a password, in the configuration's order.
func (s *Snapshot) Logins() []*configv1.User { return s.logins }

// Hostgroup gives the hostgroup, nil when it has no servers.
func (s *Snapshot) Hostgroup(id int32) *Hostgroup { return s.hostgroups[id] }

// Online tells whether the server of that address is ONLINE in the hostgroup.
func (h *Hostgroup) Online(addr string) bool {
	for i := range h.Servers {
		if h.Servers[i].Addr == addr {
			return h.Candidates.At(i).Status == selection.Online
		}
	}
	return false
}

// Has tells whether the configuration names a server of that address.
func (s *Snapshot) Has(addr string) bool {
	for i := range s.Rows {
		if s.Rows[i].Addr == addr {
			return true
		}
	}
	return false
}

// TLS tells whether TLS is to be spoken with the server of that address: when one of its rows says so.
func (s *Snapshot) TLS(addr string) bool {
	for i := range s.Rows {
		if s.Rows[i].TLS && s.Rows[i].Addr == addr {
			return true
		}
	}
	return false
}

// build makes a snapshot of a full message; before is the one in force, nil for the first. Statuses that this gateway does
// not know count as OFFLINE_HARD.
func build(m *configv1.WatchGatewayConfigResponse, site *Site, before *Snapshot) *Snapshot {
	s := &Snapshot{
		Generation: m.GetGeneration(),
		Settings:   buildSettings(m.GetSettings()),
		message: &configv1.WatchGatewayConfigResponse{ // a later message changes m
			Generation: m.GetGeneration(), Users: m.GetUsers(), Servers: m.GetServers(), Settings: m.GetSettings(), Guideline: m.GetGuideline(), Runtime: m.GetRuntime(),
		},
		users:      map[string]*configv1.User{},
		hostgroups: map[int32]*Hostgroup{},
	}
	for _, u := range m.GetUsers().GetUsers() {
		if u.Active == nil || u.GetActive() {
			s.users[u.GetUsername()] = u
			if u.Password != nil {
				s.logins = append(s.logins, u)
			}
		}
	}
	var servers []decision.Server
	candidates := map[*Hostgroup][]selection.Candidate{}
	for _, v := range m.GetServers().GetServers() {
		hg := s.hostgroups[v.GetHostgroupId()]
		if hg == nil {
			hg = &Hostgroup{ID: v.GetHostgroupId(), MaxNumOnlineServers: 1_000_000, Attributes: attributes(&configv1.Hostgroup{}, &s.Settings)}
			s.hostgroups[v.GetHostgroupId()] = hg
		}
		known := serverOf(v)
		servers = append(servers, known)
		server := Server{Addr: v.GetHostname(), TLS: v.GetUseSsl()} // port 0: the path of a Unix socket
		if port := or(v.Port, 3306); port != 0 {
			server.Addr = net.JoinHostPort(v.GetHostname(), strconv.FormatUint(uint64(port), 10))
		}
		hg.Servers = append(hg.Servers, server)
		c := candidate(v)
		candidates[hg] = append(candidates[hg], c)
		s.Rows = append(s.Rows, Row{server, hg.ID, c.MaxConnections, c.Status, known.Address()})
	}
	for hg, list := range candidates {
		hg.Candidates = selection.NewList(list)
	}
	for _, h := range m.GetServers().GetHostgroups() {
		if hg := s.hostgroups[h.GetHostgroupId()]; hg != nil {
			hg.MaxNumOnlineServers = or(h.MaxNumOnlineServers, hg.MaxNumOnlineServers)
			hg.Attributes = attributes(h, &s.Settings)
		}
	}
	var was *guiding
	if before != nil {
		was, s.Serial = before.guiding, before.Serial+1
	}
	s.guiding, s.runtime = newGuiding(m.GetGuideline(), was), runtimeOf(m.GetRuntime())
	s.views = views(site, s.guiding.guide, s.limits(), servers, s.runtime)
	return s
}

// limits gives the hostgroups as guidelines take them.
func (s *Snapshot) limits() []decision.Hostgroup {
	out := make([]decision.Hostgroup, 0, len(s.hostgroups))
	for id, hg := range s.hostgroups {
		out = append(out, decision.Hostgroup{HostgroupID: id, MaxNumOnlineServers: &hg.MaxNumOnlineServers})
	}
	return out
}

func statusOf(v *configv1.Server) selection.Status {
	status, err := selection.ParseStatus(v.GetStatus())
	if err != nil {
		return selection.OfflineHard
	}
	return status
}

func candidate(v *configv1.Server) selection.Candidate {
	return selection.Candidate{
		Weight:                uint32(or(v.Weight, 1)),
		MaxConnections:        uint32(or(v.MaxConnections, 1000)),
		MaxReplicationLag:     uint32(or(v.MaxReplicationLag, 0)),
		MaxLatencyUS:          uint64(or(v.MaxLatencyMs, 0)) * 1000,
		Status:                statusOf(v),
		CurrentReplicationLag: -1,
		LagMS:                 -1,
	}
}

func buildSettings(p *configv1.Settings) Settings {
	if p == nil {
		p = &configv1.Settings{}
	}
	return Settings{
		Digests:                 or(p.QueryDigests, true),
		DigestOptions:           buildDigestOptions(p),
		DefaultQueryDelay:       milliseconds(or(p.DefaultQueryDelay, 0)),
		DefaultQueryTimeout:     milliseconds(or(p.DefaultQueryTimeout, 86_400_000)),
		QueryRetriesOnFailure:   or(p.QueryRetriesOnFailure, 1),
		DefaultMaxLatencyMS:     or(p.DefaultMaxLatencyMs, 1000),
		ConnectTimeoutServer:    milliseconds(or(p.ConnectTimeoutServer, 3000)),
		ConnectTimeoutServerMax: milliseconds(or(p.ConnectTimeoutServerMax, 10_000)),
		ConnectRetriesOnFailure: or(p.ConnectRetriesOnFailure, 10),
		ServerVersion:           or(p.ServerVersion, "8.0.30"),
		DefaultSchema:           or(p.DefaultSchema, "information_schema"),
		LockOnHostgroup:         or(p.SetQueryLockOnHostgroup, 1) == 1,
		LockOnHostgroupError:    p.GetLockOnHostgroupError(),

		AutocommitFalseIsTransaction: or(p.AutocommitFalseIsTransaction, true),
		Multiplexing:                 p.GetMultiplexing(),
		AutoIncrementDelay:           or(p.AutoIncrementDelayMultiplex, 5),
		AutoIncrementDelayTimeout:    milliseconds(or(p.AutoIncrementDelayMultiplexTimeoutMs, 10_000)),
		FreeConnectionsPct:           or(p.FreeConnectionsPct, 10),
		ConnectionMaxAge:             milliseconds(p.GetConnectionMaxAgeMs()),
		ConnectionMaxIdle:            milliseconds(or(p.ConnectionMaxIdleMs, 60_000)),
		ConnectionWarming:            p.GetConnectionWarming(),
		ThrottleConnectionsPerSec:    or(p.ThrottleConnectionsPerSecToHostgroup, 1_000_000),
		ConnectionQueueLength:        or(p.ConnectionQueueLength, 1000),
		QueryCacheBytes:              int64(or(p.QueryCacheSizeMb, 256)) << 20,
		QueryCacheStoresEmpty:        or(p.QueryCacheStoresEmptyResult, true),
		MirrorMaxConcurrency:         or(p.MirrorMaxConcurrency, 16),
		MirrorMaxQueueLength:         or(p.MirrorMaxQueueLength, 32_000),
		WaitTimeout:                  milliseconds(or(p.WaitTimeout, 28_800_000)),
	}
}

func buildDigestOptions(p *configv1.Settings) digest.Options {
	o := digest.DefaultOptions()
	o.MaxQueryLength = int(or(p.QueryDigestsMaxQueryLength, 65_000))
	o.MaxDigestLength = int(or(p.QueryDigestsMaxDigestLength, 2048))
	o.GroupingLimit = int(or(p.QueryDigestsGroupingLimit, 3))
	o.GroupsGroupingLimit = int(or(p.QueryDigestsGroupsGroupingLimit, 10))
	o.Lowercase = p.GetQueryDigestsLowercase()
	o.ReplaceNull = p.GetQueryDigestsReplaceNull()
	o.NoDigits = p.GetQueryDigestsNoDigits()
	o.KeepComment = p.GetQueryDigestsKeepComment()
	o.Corrected = p.GetDigestMode() == "corrected"
	return o
}

func milliseconds(n uint32) time.Duration { return time.Duration(n) * time.Millisecond }

func or[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}
