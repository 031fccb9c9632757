package decision

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pointsman/pointsman/decision/selection"
)

// Largest values of columns, as in ProxySQL where it has a bound.
const (
	maxInt32              = math.MaxInt32
	maxUint32             = math.MaxUint32
	maxWeight             = 10_000_000
	maxReplicationLag     = 126_144_000
	maxNumOnlineServers   = 1_000_000
	defaultMaxConnections = 1000
	defaultMySQLPort      = 3306
)

func (c *compiler) hostgroups() {
	first := make(map[int32]int)
	for i := range c.cfg.Hostgroups {
		h := c.cfg.Hostgroups[i]
		at := row{list: "hostgroups", index: i, severity: Error}
		c.inRange(at, "hostgroup_id", int64(h.HostgroupID), 0, maxInt32)
		if other, dup := first[h.HostgroupID]; dup {
			c.reportf(at, "hostgroup_id", codeDuplicateKey, "hostgroup %d is already described by hostgroups[%d]; remove one of the two", h.HostgroupID, other)
			continue
		}
		first[h.HostgroupID] = i
		h.MaxNumOnlineServers = filled(h.MaxNumOnlineServers, maxNumOnlineServers)
		c.inRange(at, "max_num_online_servers", int64(*h.MaxNumOnlineServers), 0, maxNumOnlineServers)
		if p := h.FreeConnectionsPct; p != nil {
			c.inRange(at, "free_connections_pct", int64(*p), 0, 100)
		}
		if p := h.ThrottleConnectionsPerSec; p != nil {
			c.inRange(at, "throttle_connections_per_sec", int64(*p), 1, 100_000_000)
		}
		c.addHostgroup(h)
	}
}

// addHostgroup makes a hostgroup known.
func (c *compiler) addHostgroup(h Hostgroup) {
	c.g.hostgroups = append(c.g.hostgroups, h)
	c.g.groups[h.HostgroupID] = &group{maxOnline: *h.MaxNumOnlineServers}
}

type serverKey struct {
	hostgroup int32
	address   string
}

func (c *compiler) servers() {
	first := make(map[serverKey]int)
	said := make(map[string]*Server) // of each address
	for i := range c.cfg.Servers {
		s := c.cfg.Servers[i]
		at := row{list: "servers", index: i, severity: Error}
		before := len(c.problems)
		c.server(at, &s)
		key := serverKey{s.HostgroupID, s.Address()}
		if other, dup := first[key]; dup {
			c.reportf(at, "", codeDuplicateKey, "hostgroup %d has %s already at servers[%d]; remove one of the two, or raise its weight", s.HostgroupID, key.address, other)
			continue
		}
		first[key] = i
		c.oneServer(at, &s, said)
		if c.g.groups[s.HostgroupID] == nil {
			c.addHostgroup(Hostgroup{HostgroupID: s.HostgroupID, MaxNumOnlineServers: filled[uint32](nil, maxNumOnlineServers)})
		}
		c.g.servers = append(c.g.servers, s)
		if len(c.problems) == before {
			c.g.groups[s.HostgroupID].add(&s)
		}
	}
	for _, of := range c.g.groups {
		of.prepare()
	}
	slices.SortFunc(c.g.hostgroups, func(a, b Hostgroup) int { return cmp.Compare(a.HostgroupID, b.HostgroupID) })
}

// server checks one server and fills its defaults.
func (c *compiler) server(at row, s *Server) {
	c.inRange(at, "hostgroup_id", int64(s.HostgroupID), 0, maxInt32)
	if s.Hostname == "" {
		c.reportf(at, "hostname", codeEmptyKey, "hostname is empty; give a host name, an address, or the path of a Unix socket")
	}
	s.Port = filled(s.Port, defaultMySQLPort)
	c.inRange(at, "port", int64(*s.Port), 0, maxProxyPort)
	if strings.HasPrefix(s.Hostname, "/") != (*s.Port == 0) && s.Hostname != "" {
		c.reportf(at, "port", codeOutOfRange, "port is %d, hostname is %q; the path of a Unix socket has port 0, a host has another", *s.Port, s.Hostname)
	}
	s.Status = filled(s.Status, "ONLINE")
	status, err := selection.ParseStatus(*s.Status)
	if err != nil || status == selection.ShunnedReplicationLag {
		c.reportf(at, "status", codeUnknownStatus, "status is %q; give ONLINE, SHUNNED, OFFLINE_SOFT or OFFLINE_HARD (SHUNNED_REPLICATION_LAG is set by lag alone)", *s.Status)
	} else {
		s.Status = filled(nil, status.String())
	}
	s.Weight = filled(s.Weight, 1)
	c.inRange(at, "weight", *s.Weight, 0, maxWeight)
	s.MaxConnections = filled(s.MaxConnections, defaultMaxConnections)
	c.inRange(at, "max_connections", *s.MaxConnections, 0, maxInt32)
	s.MaxReplicationLag = filled(s.MaxReplicationLag, 0)
	c.inRange(at, "max_replication_lag", *s.MaxReplicationLag, 0, maxReplicationLag)
	s.MaxLatencyMS = filled(s.MaxLatencyMS, 0)
	c.inRange(at, "max_latency_ms", *s.MaxLatencyMS, 0, maxInt32)
	if s.UseSSL && strings.HasPrefix(s.Hostname, "/") {
		c.reportf(at, "use_ssl", codeUnsupported, "use_ssl is true, but hostname %q is the path of a Unix socket, which needs no TLS; set it to false", s.Hostname)
	}
	c.serverFacts(at, s)
}

// knows tells whether a hostgroup is declared or has servers, or whether the configuration has no hostgroups at all.
func (c *compiler) knows(hostgroup int32) bool {
	return len(c.g.groups) == 0 || c.g.groups[hostgroup] != nil
}

// wantHostgroup warns of a hostgroup that is not known, where it is met first.
func (c *compiler) wantHostgroup(at row, field string, hostgroup int32) {
	if !c.knows(hostgroup) && !c.warned[hostgroup] {
		c.warned[hostgroup] = true
		c.warn(at, field, whole, codeUnknownHostgroup, unknownHostgroup(field, hostgroup))
	}
}

func unknownHostgroup(field string, hostgroup int32) string {
	return fmt.Sprintf("%s is %d, but no server is in that hostgroup and hostgroups doesn't declare it; add one or mend the number", field, hostgroup)
}
