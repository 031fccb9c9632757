package decision

import (
	"encoding/json"
	"maps"
	"slices"
)

// booleanTags are the tags that have a meaning of their own.
var booleanTags = []string{"_disconnect_existing_sessions_when_hidden", "_hidden"}

// serverFacts checks what routing guidelines see of one server.
func (c *compiler) serverFacts(at row, s *Server) {
	if s.Version != "" {
		if _, ok := parseVersion(s.Version); !ok {
			c.reportf(at, "version", codeBadVersion, "version is %q; give it as the server says, e.g. \"8.4.3\", or as a number, e.g. 80403", s.Version)
		}
	}
	if s.MemberRole != nil {
		if _, ok := parseMemberRole(*s.MemberRole); !ok {
			c.reportf(at, "member_role", codeUnknownRole, "member_role is %q; give PRIMARY, SECONDARY, READ_REPLICA or UNDEFINED, or leave it out", *s.MemberRole)
		}
	}
	if s.ClusterRole != nil {
		if _, ok := parseClusterRole(*s.ClusterRole); !ok {
			c.reportf(at, "cluster_role", codeUnknownRole, "cluster_role is %q; give PRIMARY, REPLICA or UNDEFINED, or leave it out", *s.ClusterRole)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.Tags)) {
		text := s.Tags[key]
		switch {
		case !json.Valid([]byte(text)):
			c.reportf(at, "tags", codeBadTags, "the value of tag %q is no JSON: %s", key, text)
		case slices.Contains(booleanTags, key) && text != "true" && text != "false":
			c.reportf(at, "tags", codeBadTags, "tags.%s not a boolean: it is %s; give true or false", key, text)
		}
	}
}

// oneServer reports a row that says something else of its server than earlier rows of the same address, of which said holds
// what they say together.
func (c *compiler) oneServer(at row, s *Server, said map[string]*Server) {
	address := s.Address()
	known := said[address]
	if known == nil {
		said[address] = new(*s)
		return
	}
	if field := contradiction(known, s); field != "" {
		c.reportf(at, field, codeServerConflict,
			"an earlier row of the server %s gives %s another value; give all rows of a server the same, or set it in one alone", address, field)
		return
	}
	known.merge(s)
}
