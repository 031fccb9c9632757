package decision

import (
	"cmp"
	"maps"
	"strconv"
	"strings"

	"github.com/pointsman/pointsman/decision/guideline"
)

// parseVersion reads a server's version as people and servers write it, "8.4.3", "8.4.3-log" or "80403", and gives it as
// MMmmpp.
func parseVersion(text string) (version float64, ok bool) {
	end := strings.IndexFunc(text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if end >= 0 {
		text = text[:end]
	}
	parts := strings.Split(text, ".")
	if len(parts) == 1 && end < 0 {
		n, err := strconv.ParseUint(text, 10, 32)
		return float64(n), err == nil && n >= 1_00_00 && n <= 99_99_99
	}
	if len(parts) != 3 {
		return 0, false
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 8)
		if err != nil || n > 99 || i == 0 && n == 0 {
			return 0, false
		}
		version = version*100 + float64(n)
	}
	return version, true
}

// parseMemberRole reads a member_role. Of the roles, REPLICA is one of clusters alone.
func parseMemberRole(text string) (guideline.Role, bool) {
	role, ok := guideline.ParseRole(text)
	return role, ok && role != guideline.Replica
}

// parseClusterRole reads a cluster_role. SECONDARY and READ_REPLICA are roles of members alone.
func parseClusterRole(text string) (guideline.Role, bool) {
	role, ok := guideline.ParseRole(text)
	return role, ok && role != guideline.Secondary && role != guideline.ReadReplica
}

// merge takes over from another row of the same address what this one doesn't say.
func (s *Server) merge(other *Server) {
	s.Label = cmp.Or(s.Label, other.Label)
	s.UUID = cmp.Or(s.UUID, other.UUID)
	s.Version = cmp.Or(s.Version, other.Version)
	s.MemberRole = cmp.Or(s.MemberRole, other.MemberRole)
	s.ClusterName = cmp.Or(s.ClusterName, other.ClusterName)
	s.ClusterSetName = cmp.Or(s.ClusterSetName, other.ClusterSetName)
	s.ClusterRole = cmp.Or(s.ClusterRole, other.ClusterRole)
	s.IsClusterInvalidated = s.IsClusterInvalidated || other.IsClusterInvalidated
	if len(s.Tags) == 0 {
		s.Tags = other.Tags
	}
}

// facts gives what expressions see of a server whose rows are merged, but for its role. An unknown version is NULL.
func (s *Server) facts() guideline.Server {
	f := guideline.Server{
		Label: s.Address(), Address: s.Hostname, Port: float64(*filled(s.Port, defaultMySQLPort)), UUID: s.UUID,
		ClusterName: s.ClusterName, ClusterSetName: s.ClusterSetName, IsClusterInvalidated: s.IsClusterInvalidated, Tags: s.Tags,
	}
	if s.Label != nil {
		f.Label = *s.Label
	}
	if s.ClusterRole != nil {
		f.ClusterRole, _ = parseClusterRole(*s.ClusterRole)
	}
	version, ok := parseVersion(s.Version)
	if !ok {
		f.Null.Add("server.version")
	}
	f.Version = version
	return f
}

// contradiction names the first field of which two rows of one address say different things; empty: there is none. A row says
// nothing with what is absent, empty or false.
func contradiction(a, b *Server) string {
	differ := func(x, y *string, parse func(string) (guideline.Role, bool)) bool {
		if x == nil || y == nil {
			return false
		}
		first, _ := parse(*x)
		second, _ := parse(*y)
		return first != second
	}
	texts := func(x, y string) bool { return x != "" && y != "" && x != y }
	version := func(s *Server) float64 { v, _ := parseVersion(s.Version); return v }
	switch {
	case a.Label != nil && b.Label != nil && *a.Label != *b.Label:
		return "label"
	case texts(a.UUID, b.UUID):
		return "uuid"
	case a.Version != "" && b.Version != "" && version(a) != version(b):
		return "version"
	case differ(a.MemberRole, b.MemberRole, parseMemberRole):
		return "member_role"
	case texts(a.ClusterName, b.ClusterName):
		return "cluster_name"
	case texts(a.ClusterSetName, b.ClusterSetName):
		return "cluster_set_name"
	case differ(a.ClusterRole, b.ClusterRole, parseClusterRole):
		return "cluster_role"
	case len(a.Tags) > 0 && len(b.Tags) > 0 && !maps.Equal(a.Tags, b.Tags):
		return "tags"
	}
	return ""
}
