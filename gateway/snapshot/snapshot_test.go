package snapshot

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/decision/selection"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

func TestBuildDefaults(t *testing.T) {
	s := build(&configv1.WatchGatewayConfigResponse{Generation: 3, Servers: &configv1.ServerList{
		Servers: []*configv1.Server{{HostgroupId: 1, Hostname: "db"}},
	}}, testSite(), nil)
	want := Settings{
		Digests: true, DigestOptions: s.Settings.DigestOptions, DefaultQueryTimeout: 24 * time.Hour, QueryRetriesOnFailure: 1,
		DefaultMaxLatencyMS: 1000, ConnectTimeoutServer: 3 * time.Second, ConnectTimeoutServerMax: 10 * time.Second,
		ConnectRetriesOnFailure: 10, ServerVersion: "8.0.30", DefaultSchema: "information_schema", LockOnHostgroup: true,
		AutocommitFalseIsTransaction: true, AutoIncrementDelay: 5, AutoIncrementDelayTimeout: 10 * time.Second, FreeConnectionsPct: 10,
		ConnectionMaxIdle: time.Minute, ThrottleConnectionsPerSec: 1_000_000, ConnectionQueueLength: 1000, QueryCacheBytes: 256 << 20,
		QueryCacheStoresEmpty: true, MirrorMaxConcurrency: 16, MirrorMaxQueueLength: 32_000, WaitTimeout: 8 * time.Hour,
	}
	if s.Settings != want || s.Generation != 3 {
		t.Errorf("settings %+v", s.Settings)
	}
	if o := s.Settings.DigestOptions; o.MaxQueryLength != 65000 || o.MaxDigestLength != 2048 || o.GroupingLimit != 3 || o.GroupsGroupingLimit != 10 {
		t.Errorf("digest options %+v", o)
	}
	hg := s.Hostgroup(1)
	if want := (Attributes{FreeConnectionsPct: 10, ThrottleConnectionsPerSec: 1_000_000}); hg.Attributes != want {
		t.Errorf("attributes %+v", hg.Attributes)
	}
	if hg.Servers[0].Addr != "db:3306" || hg.MaxNumOnlineServers != 1_000_000 {
		t.Errorf("hostgroup %+v", hg)
	}
	if c := hg.Candidates.At(0); c.Weight != 1 || c.MaxConnections != 1000 || c.Status != selection.Online || c.CurrentReplicationLag != -1 || c.MaxLatencyUS != 0 {
		t.Errorf("candidate %+v", c)
	}
}

func TestBuild(t *testing.T) {
	s := build(&configv1.WatchGatewayConfigResponse{
		Users: &configv1.UserList{Users: []*configv1.User{{Username: "a"}, {Username: "b", Active: new(false)}, {Username: "c", Active: new(true)}}},
		Servers: &configv1.ServerList{
			Hostgroups: []*configv1.Hostgroup{{HostgroupId: 1, MaxNumOnlineServers: proto.Uint32(2), Multiplex: new(false), FreeConnectionsPct: proto.Uint32(0)}, {HostgroupId: 9, MaxNumOnlineServers: proto.Uint32(2)}},
			Servers: []*configv1.Server{
				{HostgroupId: 1, Hostname: "2001:db8::1", Port: proto.Uint32(3307), UseSsl: true, Weight: proto.Int64(0), MaxConnections: proto.Int64(0), MaxReplicationLag: proto.Int64(7), MaxLatencyMs: proto.Int64(5)},
				{HostgroupId: 1, Hostname: "/run/mysqld.sock", Port: proto.Uint32(0), Status: new("OFFLINE_SOFT")},
				{HostgroupId: 2, Hostname: "h", Status: new("HALF_ALIVE")},
				{HostgroupId: 2, Hostname: "i", Status: new("SHUNNED")},
			},
		},
		Settings: &configv1.Settings{
			QueryDigests: new(false), QueryDigestsNoDigits: new(true), QueryDigestsGroupingLimit: proto.Uint32(9),
			DefaultQueryDelay: proto.Uint32(20), DefaultQueryTimeout: proto.Uint32(0), SetQueryLockOnHostgroup: proto.Uint32(0), ServerVersion: new("5.7.1"), Multiplexing: new(true), ConnectionWarming: new(true), DigestMode: new("corrected"),
		},
	}, testSite(), nil)
	if s.User("a") == nil || s.User("b") != nil || s.User("c") == nil || s.User("d") != nil {
		t.Error("users")
	}
	one, two := s.Hostgroup(1), s.Hostgroup(2)
	if one.MaxNumOnlineServers != 2 || one.Servers[0].Addr != "[2001:db8::1]:3307" || one.Servers[1].Addr != "/run/mysqld.sock" || s.Hostgroup(9) != nil {
		t.Errorf("%+v", one)
	}
	if want := (Attributes{ConnectionWarming: true, ThrottleConnectionsPerSec: 1_000_000}); one.Attributes != want || !two.Attributes.Multiplex || !one.Servers[0].TLS || one.Servers[1].TLS {
		t.Errorf("attributes %+v and %+v, servers %+v", one.Attributes, two.Attributes, one.Servers)
	}
	if c := one.Candidates.At(0); c.Weight != 0 || c.MaxConnections != 0 || c.MaxReplicationLag != 7 || c.MaxLatencyUS != 5000 {
		t.Errorf("%+v", c)
	}
	if one.Candidates.At(1).Status != selection.OfflineSoft || two.Candidates.At(0).Status != selection.OfflineHard || two.Candidates.At(1).Status != selection.Shunned {
		t.Error("statuses")
	}
	if !one.Online("[2001:db8::1]:3307") || one.Online("/run/mysqld.sock") || one.Online("elsewhere:1") {
		t.Error("online")
	}
	if st := s.Settings; st.Digests || !st.DigestOptions.NoDigits || !st.DigestOptions.Corrected || st.DigestOptions.GroupingLimit != 9 || st.LockOnHostgroup ||
		st.DefaultQueryDelay != 20*time.Millisecond || st.DefaultQueryTimeout != 0 || st.ServerVersion != "5.7.1" {
		t.Errorf("%+v", st)
	}
}
