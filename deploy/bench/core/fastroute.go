package core

import (
	"fmt"

	"github.com/pointsman/pointsman/decision/fastroute"
	"github.com/pointsman/pointsman/deploy/bench"
)

// fastRoutes makes users*schemas entries, one for each pair, with the flags 0 to 3.
func fastRoutes(users, schemas int) []fastroute.Entry {
	list := make([]fastroute.Entry, 0, users*schemas)
	for u := range users {
		name := userName(u)
		for v := range schemas {
			list = append(list, fastroute.Entry{
				Username: name, Schemaname: schemaName(v), FlagIn: int32(u+v) % 4, DestinationHostgroup: int32((u ^ v) % 50),
			})
		}
	}
	return list
}

func userName(i int) string   { return fmt.Sprintf("app_user_%d", i) }
func schemaName(i int) string { return fmt.Sprintf("tenant_%d", i) }

func (s *suite) fastroute() error {
	entries := fastRoutes(500, 200)
	table, duplicates := fastroute.Build(entries)
	if len(duplicates) > 0 {
		return fmt.Errorf("build fast routes: %d duplicates", len(duplicates))
	}
	// Hits at random places; names are copies, as a session's are.
	type ids struct {
		user, schema uint32
		flag         int32
	}
	type names struct {
		user, schema string
		flag         int32
	}
	r := random(20)
	byIDs, byNames := make([]ids, 65_536), make([]names, 65_536)
	for i := range byIDs {
		e := &entries[r.IntN(len(entries))]
		byNames[i] = names{string([]byte(e.Username)), string([]byte(e.Schemaname)), e.FlagIn}
		byIDs[i] = ids{table.UserID(e.Username), table.SchemaID(e.Schemaname), e.FlagIn}
		for _, lookup := range []func() (int32, bool){
			func() (int32, bool) { return table.Lookup(e.Username, e.Schemaname, e.FlagIn) },
			func() (int32, bool) { return table.LookupIDs(byIDs[i].user, byIDs[i].schema, e.FlagIn) },
		} {
			if got, ok := lookup(); !ok || got != e.DestinationHostgroup {
				return fmt.Errorf("look up %+v: %d, %v", *e, got, ok)
			}
		}
	}
	interned := bench.Op{Per: len(byIDs), Run: func() {
		var sum uint64
		for i := range byIDs {
			k := &byIDs[i]
			hostgroup, _ := table.LookupIDs(k.user, k.schema, k.flag)
			sum += uint64(hostgroup)
		}
		sink += sum
	}}
	byString := bench.Op{Per: len(byNames), Run: func() {
		var sum uint64
		for i := range byNames {
			k := &byNames[i]
			hostgroup, _ := table.Lookup(k.user, k.schema, k.flag)
			sum += uint64(hostgroup)
		}
		sink += sum
	}}
	m := s.meter.Measure(mapLookup(), interned, byString)
	note := fmt.Sprintf("M %.1f ns", m[0].Median())
	s.report.Add("fastroute_1e5_interned", bench.Result{Value: m[1].Median(), Ratio: m[1].Over(m[0]).Median(), Allocs: s.allocs(interned), Note: note})
	s.report.Add("fastroute_1e5_strings", bench.Result{Value: m[2].Median(), Ratio: m[2].Over(m[0]).Median(), Allocs: s.allocs(byString)})

	// The table's own count is not taken on trust: the heap is measured. It includes 2,000 names.
	const users, schemas = 1000, 1000
	entries = fastRoutes(users, schemas)
	table, heap := bench.Heap(func() *fastroute.Table {
		t, _ := fastroute.Build(entries)
		return t
	})
	each := float64(heap) / (users * schemas)
	s.report.Add("fastroute_bytes_1e6", bench.Result{
		Value: each, Ratio: each, Allocs: -1,
		Note: fmt.Sprintf("%.1f by the table's own account", float64(table.Memory())/(users*schemas)),
	})
	return nil
}
