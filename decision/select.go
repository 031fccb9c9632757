package decision

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pointsman/pointsman/decision/selection"
)

// SelectRequest asks for one server.
type SelectRequest struct {
	Hostgroup   int32             // Select only
	Seed        uint64            // the same seed gives the same server while nothing else changes
	Exclude     []string          // servers not to draw, as Server.Address or as the candidate's index in decimal
	Connections map[string]uint32 // the caller's own connections in use by Server.Address; Select only
	MaxLagMS    *uint32           // only servers that lag at most so many ms; unknown passes
	Explain     bool              // whether to say why servers were turned down
}

// SelectResult is the server drawn.
type SelectResult struct {
	Index      int     // the server's place in its hostgroup, or the candidate's index; -1: none is eligible
	Server     *Server // nil for candidates, and when none is eligible
	Eligible   int     // how many could have been drawn
	Rejections []Rejection
}

// Rejection says why a server can't be drawn.
type Rejection struct {
	Server string // as in SelectRequest.Exclude
	Reason string // for people, e.g. "status OFFLINE_SOFT"
}

// Candidate is a server that the caller describes.
type Candidate struct {
	Index                 *int32 // nil: its place in the list
	Weight                *int64 // 0..10,000,000; nil: 1
	Status                string // ProxySQL's word; empty: ONLINE
	CurrentConnections    uint32
	MaxConnections        *uint32 // nil: 1000; 0: never drawn
	CurrentReplicationLag *uint32 // s; nil: unknown, passes
	MaxReplicationLag     uint32  // s; 0: no limit
	CurrentLatencyUS      uint64  // us; 0: unknown, passes
	MaxLatencyUS          uint64  // us; 0: the setting default_max_latency_ms
}

// Address is how requests call the server: "host:port", with brackets around an IPv6 address, or "path:0".
func (s *Server) Address() string {
	port := uint32(defaultMySQLPort)
	if s.Port != nil {
		port = *s.Port
	}
	host := s.Hostname
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "/") {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.FormatUint(uint64(port), 10)
}

// group is a hostgroup as Select sees it. Its lists run in step.
type group struct {
	maxOnline uint32
	servers   []Server
	addresses []string
	list      *selection.List

	candidates []selection.Candidate // of the list, until all are there
}

// add takes a server whose numbers are checked; others never get as far as Select.
func (g *group) add(s *Server) {
	g.servers = append(g.servers, *s)
	g.addresses = append(g.addresses, s.Address())
	g.candidates = append(g.candidates, s.candidate())
}

// candidate is the server as draws see it; absent values have their defaults, and one with an unknown status is OFFLINE_HARD.
func (s *Server) candidate() selection.Candidate {
	status, err := selection.ParseStatus(*filled(s.Status, ""))
	if err != nil {
		status = selection.OfflineHard
	}
	return selection.Candidate{
		Weight:                uint32(*filled(s.Weight, 1)),
		Status:                status,
		MaxConnections:        uint32(*filled(s.MaxConnections, defaultMaxConnections)),
		CurrentReplicationLag: -1,
		MaxReplicationLag:     uint32(*filled(s.MaxReplicationLag, 0)),
		MaxLatencyUS:          uint64(*filled(s.MaxLatencyMS, 0)) * 1000,
		LagMS:                 -1,
	}
}

// prepare follows the last add.
func (g *group) prepare() {
	g.list, g.candidates = selection.NewList(g.candidates), nil
}

// Select draws a server of a hostgroup by its configured status and weight and the caller's connections. A hostgroup
// without servers, or one that nobody declares, has none to give.
func (g *Generation) Select(r *SelectRequest) SelectResult {
	of := g.groups[r.Hostgroup]
	if of == nil {
		return SelectResult{Index: -1}
	}
	limits := limits(r, *g.settings.DefaultMaxLatencyMS)
	limits.MaxNumOnlineServers = of.maxOnline
	var used selection.Used
	if len(r.Connections) > 0 {
		used = func(place int) uint32 { return r.Connections[of.addresses[place]] }
	}
	result := draw(r, of.list, of.addresses, &limits, used)
	if result.Index >= 0 {
		result.Server = &of.servers[result.Index]
	}
	return result
}

// SelectCandidates draws one of the servers that the caller describes; defaultMaxLatencyMS is the setting in ms. The
// error is a *QuestionError.
func SelectCandidates(list []Candidate, r *SelectRequest, defaultMaxLatencyMS uint32) (SelectResult, error) {
	candidates := make([]selection.Candidate, len(list))
	indexes := make([]int32, len(list))
	names := make([]string, len(list))
	seen := make(map[int32]int, len(list))
	for i := range list {
		c := &list[i]
		bad := func(field, format string, args ...any) error {
			return &QuestionError{fmt.Sprintf("candidates.candidates[%d].%s", i, field), fmt.Sprintf(format, args...)}
		}
		indexes[i] = *filled(c.Index, int32(i))
		names[i] = strconv.Itoa(int(indexes[i]))
		if other, dup := seen[indexes[i]]; dup {
			return SelectResult{}, bad("index", "is %d, like that of candidates[%d]", indexes[i], other)
		}
		seen[indexes[i]] = i
		if indexes[i] < 0 {
			return SelectResult{}, bad("index", "is %d; give a number from 0", indexes[i])
		}
		weight := *filled(c.Weight, 1)
		if weight < 0 || weight > maxWeight {
			return SelectResult{}, bad("weight", "is %d; give a number from 0 to %d", weight, maxWeight)
		}
		status, err := selection.ParseStatus(c.Status)
		if err != nil {
			return SelectResult{}, bad("status", "is unknown: %v", err)
		}
		lag, lagMS := int64(-1), int64(-1)
		if c.CurrentReplicationLag != nil {
			lag = int64(*c.CurrentReplicationLag)
			lagMS = lag * 1000
		}
		candidates[i] = selection.Candidate{
			Weight:                uint32(weight),
			Status:                status,
			CurrentConnections:    c.CurrentConnections,
			MaxConnections:        *filled(c.MaxConnections, defaultMaxConnections),
			CurrentReplicationLag: lag,
			MaxReplicationLag:     c.MaxReplicationLag,
			CurrentLatencyUS:      c.CurrentLatencyUS,
			MaxLatencyUS:          c.MaxLatencyUS,
			LagMS:                 lagMS,
		}
	}
	limits := limits(r, defaultMaxLatencyMS)
	result := draw(r, selection.NewList(candidates), names, &limits, nil)
	if result.Index >= 0 {
		result.Index = int(indexes[result.Index])
	}
	return result, nil
}

func limits(r *SelectRequest, defaultMaxLatencyMS uint32) selection.Limits {
	l := selection.DefaultLimits()
	l.DefaultMaxLatencyMS = defaultMaxLatencyMS
	if r.MaxLagMS != nil {
		l.HasMaxLag, l.MaxLagMS = true, *r.MaxLagMS
	}
	return l
}

// draw picks one of the list; names run in step with it.
func draw(r *SelectRequest, list *selection.List, names []string, l *selection.Limits, used selection.Used) SelectResult {
	var excluded selection.Set
	if len(r.Exclude) > 0 {
		for i, name := range names {
			if slices.Contains(r.Exclude, name) {
				excluded.Add(i)
			}
		}
	}
	result := SelectResult{
		Index:    list.Pick(l, r.Seed, excluded, used),
		Eligible: list.Count(l, excluded, used),
	}
	if r.Explain {
		for i, reason := range selection.Explain(nil, list.With(used), l, excluded) {
			if reason.Kind != selection.Passed {
				result.Rejections = append(result.Rejections, Rejection{names[i], reason.String()})
			}
		}
	}
	return result
}
