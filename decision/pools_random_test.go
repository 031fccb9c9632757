package decision_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/guideline"
	"github.com/pointsman/pointsman/decision/selection"
)

// world is a random topology whose truth is known beside the rows that tell it.
type world struct {
	guide *decision.Guide
	rows  []decision.Server
	// The hostgroups that have a limit.
	hostgroups []decision.Hostgroup
	runtime    *decision.Runtime
	truth      []guideline.Server // in the order of their first rows
	rowsOf     map[string][]int   // by label, which is the address
}

const worldRoutes = 3

func (r randomizer) world(tb testing.TB) *world {
	tb.Helper()
	w := &world{rowsOf: map[string][]int{}, runtime: &decision.Runtime{Servers: map[string]decision.ServerState{}}}
	w.guide = mustGuide(tb, r.tiers(), bound(1, 2))
	roles := []string{"", "PRIMARY", "SECONDARY", "READ_REPLICA", "UNDEFINED"}
	for i := range 1 + r.IntN(6) {
		s := decision.Server{Hostname: fmt.Sprint("db", i), Port: new(uint32(3306 + i%2))}
		truth := guideline.Server{Label: s.Address(), Address: s.Hostname, Port: float64(*s.Port), Tags: map[string]string{}}
		truth.Null.Add("server.version")
		if r.oneIn(2) {
			truth.Tags["zone"] = pick(r, []string{`"north"`, `"south"`})
		}
		if r.oneIn(6) {
			truth.Tags["_hidden"] = "true"
		}
		configured, seen := pick(r, roles), pick(r, roles[:4])
		w.runtime.Servers[s.Address()] = decision.ServerState{MemberRole: seen, Unavailable: pick(r, []string{"", "", "down"})}
		in := map[int32]bool{}
		for _, hostgroup := range r.Perm(4)[:1+r.IntN(2)] {
			row := s
			row.HostgroupID = int32(hostgroup)
			in[row.HostgroupID] = true
			row.Weight, row.Status, row.MaxConnections = maybe(r, int64(0), 1, 2, 5), rarely(r, "OFFLINE_SOFT", "SHUNNED"), maybe(r, int64(0), 2, 10)
			w.rowsOf[s.Address()] = append(w.rowsOf[s.Address()], len(w.rows))
			w.rows = append(w.rows, row)
		}
		// One of the rows says all there is to say.
		say := &w.rows[pick(r, w.rowsOf[s.Address()])]
		say.Tags = truth.Tags
		if configured != "" {
			say.MemberRole = &configured
		}
		switch {
		case seen == "SECONDARY" && configured == "READ_REPLICA":
			seen = configured
		case seen != "":
		case configured != "":
			seen = configured
		case in[1]:
			seen = "PRIMARY"
		case in[2]:
			seen = "SECONDARY"
		}
		truth.MemberRole, _ = guideline.ParseRole(seen)
		w.truth = append(w.truth, truth)
	}
	for i := range 3 {
		if r.oneIn(3) {
			w.hostgroups = append(w.hostgroups, decision.Hostgroup{HostgroupID: int32(i), MaxNumOnlineServers: new(uint32(r.IntN(3)))})
		}
	}
	return w
}

// tiers makes a document whose route N is that of user rN.
func (r randomizer) tiers() string {
	type object = map[string]any
	rules := map[string]string{
		"primary": "$.server.memberRole = PRIMARY", "other": "$.server.memberRole <> PRIMARY", "north": "$.server.tags.zone = 'north'",
		"even": "$.server.port % 2 = 0", "all": "$.server.port > 0", "none": "$.server.port < 0", "near": "$.server.tags.zone = $.router.tags.zone",
	}
	classes, destinations := []string{}, []object{}
	for name, rule := range rules {
		classes, destinations = append(classes, name), append(destinations, object{"name": name, "match": rule})
	}
	slices.Sort(classes)
	slices.SortFunc(destinations, func(a, b object) int {
		return slices.Index(classes, a["name"].(string)) - slices.Index(classes, b["name"].(string))
	})
	var routes []object
	for i := range worldRoutes {
		var groups []object
		for range 1 + r.IntN(3) {
			groups = append(groups, object{
				"classes": []string{pick(r, classes), pick(r, classes)}[:1+r.IntN(2)], "strategy": pick(r, []string{"round-robin", "first-available"}), "priority": r.IntN(3),
			})
		}
		routes = append(routes, object{"name": fmt.Sprint("r", i), "match": fmt.Sprintf("$.session.user = 'r%d'", i), "destinations": groups})
	}
	text, err := json.Marshal(object{"version": "1.1", "name": "tiers", "destinations": destinations, "routes": routes})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// overfull tells whether a hostgroup has more servers ONLINE than it may have.
func (w *world) overfull(hostgroup int32) bool {
	n := 0
	for i := range w.rows {
		s := &w.rows[i]
		if s.HostgroupID == hostgroup && s.Status == nil && w.runtime.Servers[s.Address()].Unavailable == "" {
			n++
		}
	}
	for _, h := range w.hostgroups {
		if h.HostgroupID == hostgroup {
			return n > int(*h.MaxNumOnlineServers)
		}
	}
	return false
}

// plainPick takes all turns of each tier's eligible servers apart. It gives those of the tier that counts, too.
func (w *world) plainPick(router *guideline.Router, route, kind string, turn uint64, excluded map[int]bool, used map[int]uint32) (row int, turns []int) {
	answer := w.guide.Guideline().Preview(guideline.PreviewQuestion{Router: router, Servers: w.truth, Session: &guideline.Session{User: route}})
	for i, labels := range answer.Tiers {
		turns = nil
		for _, label := range labels {
			at := slices.IndexFunc(w.truth, func(s guideline.Server) bool { return s.Label == label })
			if isPrimary := w.truth[at].MemberRole == guideline.Primary; kind == "write" && !isPrimary || kind == "read" && isPrimary {
				continue
			}
			row := w.rowsOf[label][0]
			for _, r := range w.rowsOf[label] {
				if kind == "write" && w.rows[r].HostgroupID == 1 || kind == "read" && w.rows[r].HostgroupID == 2 {
					row = r
				}
			}
			s := &w.rows[row]
			weight, most := int64(1), int64(1000)
			if s.Weight != nil {
				weight = *s.Weight
			}
			if s.MaxConnections != nil {
				most = *s.MaxConnections
			}
			if s.Status != nil || w.runtime.Servers[label].Unavailable != "" || excluded[row] || int64(used[row]) >= most || w.overfull(s.HostgroupID) {
				continue
			}
			for range weight {
				turns = append(turns, row)
			}
		}
		switch {
		case len(turns) == 0:
		case answer.Route.Groups[i].Strategy == guideline.FirstAvailable:
			return turns[0], turns
		default:
			return turns[turn%uint64(len(turns))], turns
		}
	}
	return -1, nil
}

// TestPoolsArePlain holds pools of random topologies to the reference.
func TestPoolsArePlain(t *testing.T) {
	limits := selection.DefaultLimits()
	drawn, empty := 0, 0
	for seed := range uint64(400) {
		r := newRandomizer(seed)
		w := r.world(t)
		router := pick(r, []*guideline.Router{nil, {Tags: map[string]string{"zone": `"south"`}}})
		pools := w.guide.NewPools(router, w.hostgroups, w.rows, w.runtime)
		for range 30 {
			route, kind := fmt.Sprint("r", r.IntN(worldRoutes)), pick(r, []string{"all", "write", "read"})
			excluded, used := map[int]bool{}, map[int]uint32{}
			var set selection.Set
			for row := range w.rows {
				if r.oneIn(4) {
					excluded[row] = true
					set.Add(row)
				}
				used[row] = pick(r, []uint32{0, 0, 1, 2, 1000})
			}
			turn := r.Uint64N(20)
			pool, inUse := pools.Pool(kind+":"+route), func(row int) uint32 { return used[row] }
			got := pool.Pick(&limits, turn, set, inUse)
			want, turns := w.plainPick(router, route, kind, turn, excluded, used)
			if got != want {
				t.Fatalf("seed %d, %s:%s, turn %d: row %d, want %d\n%s\n%+v", seed, kind, route, turn, got, want, w.guide.Document(), w.rows)
			}
			for row := range w.rows {
				if got, want := pool.Allows(row, &limits, set, inUse), slices.Contains(turns, row); got != want {
					t.Fatalf("seed %d, %s:%s: row %d is allowed: %v, want %v\n%s\n%+v", seed, kind, route, row, got, want, w.guide.Document(), w.rows)
				}
				if in := slices.Contains(pool.Rows(), row); in != (pool.Tier(row) >= 0) || slices.Contains(turns, row) && !in {
					t.Fatalf("seed %d, %s:%s: row %d is in tier %d", seed, kind, route, row, pool.Tier(row))
				}
			}
			if got < 0 {
				empty++
			} else {
				drawn++
			}
		}
	}
	if drawn < 1000 || empty < 1000 {
		t.Errorf("%d draws gave a server, %d none", drawn, empty)
	}
}
