package fastroute

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestLookup(t *testing.T) {
	table, duplicates := Build([]Entry{
		{"app", "shop", 0, 10},
		{"app", "shop", 7, 11},
		{"app", "", 0, 12},
		{"", "shop", 0, 20},
		{"", "shop", 8, 21},
		{"", "log", 0, 0},
		{"App", "shop", math.MaxInt32, math.MaxInt32},
	})
	if len(duplicates) != 0 || table.Len() != 7 {
		t.Fatalf("%d entries, duplicates %v", table.Len(), duplicates)
	}
	const none = -1
	for _, tt := range []struct {
		name         string
		user, schema string
		flag         int32
		want         int32
	}{
		{"own row", "app", "shop", 0, 10},
		{"own row of another flag", "app", "shop", 7, 11},
		{"any user's row though there are own ones", "app", "shop", 8, 21},
		{"no row for the flag", "app", "shop", 9, none},
		{"any user's row", "other", "shop", 0, 20},
		{"any user's row for the empty user", "", "shop", 0, 20},
		{"hostgroup 0", "app", "log", 0, 0},
		{"an empty schemaname is no wildcard", "app", "blog", 0, none},
		{"an empty schemaname", "app", "", 0, 12},
		{"an empty schemaname of another user", "other", "", 0, none},
		{"names are case-sensitive: user", "App", "shop", 0, 20},
		{"names are case-sensitive: schema", "app", "Shop", 0, none},
		{"largest numbers", "App", "shop", math.MaxInt32, math.MaxInt32},
		{"no negative flag", "app", "shop", -1, none},
	} {
		got, ok := table.Lookup(tt.user, tt.schema, tt.flag)
		if ok != (tt.want != none) || ok && got != tt.want {
			t.Errorf("%s: Lookup(%q, %q, %d) = %d, %v, want %d", tt.name, tt.user, tt.schema, tt.flag, got, ok, tt.want)
		}
	}
}

func TestIDs(t *testing.T) {
	table, _ := Build([]Entry{{"app", "shop", 0, 10}, {"", "shop", 0, 20}, {"app", "log", 3, 30}})
	app, anyone, shop, log := table.UserID("app"), table.UserID(""), table.SchemaID("shop"), table.SchemaID("log")
	if app == 0 || anyone == 0 || app == anyone || shop == 0 || log == 0 || shop == log {
		t.Fatalf("users %d and %d, schemas %d and %d", app, anyone, shop, log)
	}
	if other, schema := table.UserID("other"), table.SchemaID("other"); other != 0 || schema != 0 {
		t.Errorf("unknown names have the ids %d and %d", other, schema)
	}
	const none = -1
	for _, tt := range []struct {
		user, schema uint32
		flag         int32
		want         int32
	}{
		{app, shop, 0, 10},
		{anyone, shop, 0, 20},
		{0, shop, 0, 20},
		{app, log, 3, 30},
		{app, log, 0, none},
		{0, log, 3, none},
		{app, 0, 0, none},
		{0, 0, 0, none},
		{math.MaxUint32, shop, 0, 20}, // of no table
	} {
		got, ok := table.LookupIDs(tt.user, tt.schema, tt.flag)
		if ok != (tt.want != none) || ok && got != tt.want {
			t.Errorf("LookupIDs(%d, %d, %d) = %d, %v, want %d", tt.user, tt.schema, tt.flag, got, ok, tt.want)
		}
	}
	for _, tt := range []struct {
		user, schema string
		flag         int32
		want         bool
	}{{"app", "shop", 0, true}, {"app", "log", 3, true}, {"app", "log", 0, false}, {"", "shop", 0, true}, {"other", "shop", 0, false}, {"", "log", 3, false}} {
		if got := table.Has(tt.user, tt.schema, tt.flag); got != tt.want {
			t.Errorf("Has(%q, %q, %d) = %v", tt.user, tt.schema, tt.flag, got)
		}
	}
	var empty *Table
	if got, ok := empty.LookupIDs(app, shop, 0); ok || empty.Has("app", "shop", 0) || empty.UserID("app") != 0 || empty.SchemaID("shop") != 0 || empty.Memory() != 0 || empty.NamesMemory() != 0 {
		t.Errorf("the empty table gives %d", got)
	}
}

func TestEmpty(t *testing.T) {
	built, duplicates := Build(nil)
	if duplicates != nil {
		t.Errorf("duplicates %v", duplicates)
	}
	for _, table := range []*Table{built, nil} {
		if hostgroup, ok := table.Lookup("app", "shop", 0); ok || table.Len() != 0 {
			t.Errorf("%d, %v of %d entries", hostgroup, ok, table.Len())
		}
	}
}

func TestDuplicates(t *testing.T) {
	table, duplicates := Build([]Entry{
		{"a", "s", 0, 1}, {"b", "s", 0, 2}, {"a", "s", 0, 3}, {"a", "s", 1, 4}, {"a", "s", 0, 1}, {"b", "s", 0, 6},
	})
	if want := []Duplicate{{0, 2}, {0, 4}, {1, 5}}; !slices.Equal(duplicates, want) {
		t.Errorf("duplicates %v, want %v", duplicates, want)
	}
	if hostgroup, _ := table.Lookup("a", "s", 0); hostgroup != 1 || table.Len() != 3 {
		t.Errorf("%d of %d entries, want the first entry's of 3", hostgroup, table.Len())
	}
}

type key struct {
	user, schema string
	flag         int32
}

// FuzzTable holds tables made of a random stream against a map.
// TestAlikeNames builds tables of names that differ by little: by the length of a run of one byte above all.
func TestAlikeNames(t *testing.T) {
	sets := map[string][]string{
		"pairs": {"db1000", "db10000", "1000", "10000", "db1001", "db10001", "db2345", "db23345", "s1220", "s12220", "t_10ab", "t_100ab"},
	}
	for length := range 40 {
		sets["zeros"] = append(sets["zeros"], strings.Repeat("0", length))
		sets["zero bytes"] = append(sets["zero bytes"], strings.Repeat("\x00", length))
		sets["ones"] = append(sets["ones"], strings.Repeat("\xff", length), strings.Repeat("\x01", length))
	}
	for _, format := range []string{"s%d", "db%d", "%d", "t%04d", "a%dx", "%x", "%b"} {
		for i := range 20_000 {
			sets[format] = append(sets[format], fmt.Sprintf(format, i))
		}
	}
	for name, list := range sets {
		t.Run(name, func(t *testing.T) {
			slices.Sort(list)
			list := slices.Compact(list)
			entries := make([]Entry, 0, 2*len(list))
			for i, name := range list {
				entries = append(entries,
					Entry{Username: "u", Schemaname: name, DestinationHostgroup: int32(i)},
					Entry{Username: name, Schemaname: "s", FlagIn: 7, DestinationHostgroup: int32(i)})
			}
			table, duplicates := Build(entries)
			if len(duplicates) > 0 || table.Len() != len(entries) {
				t.Fatalf("%d entries, %d duplicates", table.Len(), len(duplicates))
			}
			for i := range entries {
				e := &entries[i]
				if got, ok := table.Lookup(e.Username, e.Schemaname, e.FlagIn); !ok || got != e.DestinationHostgroup {
					t.Fatalf("%+v leads to %d, %t", e, got, ok)
				}
			}
		})
	}
}

func FuzzTable(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, uint16(1<<seed), uint8(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, n uint16, spread uint8) {
		r := rand.New(rand.NewPCG(seed, 0))
		random := func() key {
			k := key{fmt.Sprint("u", r.IntN(int(spread)+1)), fmt.Sprint("s", r.IntN(int(spread)+1)), r.Int32N(int32(spread) + 1)}
			if r.IntN(4) == 0 {
				k.user = ""
			}
			return k
		}
		want := map[key]int32{}
		var entries []Entry
		repeated := 0
		for range n {
			k := random()
			if _, ok := want[k]; ok {
				repeated++
			} else {
				want[k] = int32(len(entries))
			}
			entries = append(entries, Entry{k.user, k.schema, k.flag, int32(len(entries))})
		}
		table, duplicates := Build(entries)
		if table.Len() != len(want) || len(duplicates) != repeated {
			t.Fatalf("%d entries and %d duplicates, want %d and %d", table.Len(), len(duplicates), len(want), repeated)
		}
		for _, d := range duplicates {
			e := entries[d.Second]
			if want[key{e.Username, e.Schemaname, e.FlagIn}] != int32(d.First) {
				t.Fatalf("duplicate %v", d)
			}
		}
		for range 1000 {
			k := random()
			hostgroup, ok := table.Lookup(k.user, k.schema, k.flag)
			wantHostgroup, wantOK := want[k]
			if !wantOK {
				wantHostgroup, wantOK = want[key{"", k.schema, k.flag}]
			}
			if hostgroup != wantHostgroup || ok != wantOK {
				t.Fatalf("%v: %d, %v, want %d, %v", k, hostgroup, ok, wantHostgroup, wantOK)
			}
		}
	})
}

// grid gives n entries of many users, with a few schemas and flags each.
func grid(n int) []Entry {
	var schemas [10]string
	for i := range schemas {
		schemas[i] = "schema" + strconv.Itoa(i)
	}
	entries := make([]Entry, n)
	user := ""
	for i := range entries {
		if i%20 == 0 {
			user = "user" + strconv.Itoa(i/20)
		}
		entries[i] = Entry{user, schemas[i%10], int32(i / 10 % 2), int32(i)}
	}
	return entries
}

func TestMillion(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a million entries")
	}
	entries := grid(1_000_000)
	table, duplicates := Build(entries)
	if len(duplicates) != 0 || table.Len() != len(entries) {
		t.Fatalf("%d entries, %d duplicates", table.Len(), len(duplicates))
	}
	for i := 0; i < len(entries); i += 7 {
		e := &entries[i]
		if hostgroup, ok := table.Lookup(e.Username, e.Schemaname, e.FlagIn); !ok || hostgroup != e.DestinationHostgroup {
			t.Fatalf("%v: %d, %v", e, hostgroup, ok)
		}
	}
	if per := (table.Memory() - table.NamesMemory()) / len(entries); per > 24 {
		t.Errorf("%d bytes an entry without the names, want at most 24", per)
	}
	if per := table.NamesMemory() / (len(entries)/20 + 10); per > 48 {
		t.Errorf("%d bytes a name, want at most 48", per)
	}
}

func TestLookupAllocs(t *testing.T) {
	table, _ := Build(append(grid(1000), Entry{"", "schema1", 0, 5}))
	if n := testing.AllocsPerRun(100, func() {
		table.Lookup("user3", "schema1", 0)
		table.Lookup("stranger", "schema1", 0)
		table.Lookup("user3", "nowhere", 0)
	}); n != 0 {
		t.Errorf("%g allocations, want 0", n)
	}
}

func BenchmarkLookup(b *testing.B) {
	for _, n := range []int{1000, 100_000, 1_000_000} {
		entries := grid(n)
		table, _ := Build(entries)
		r := rand.New(rand.NewPCG(1, 1))
		r.Shuffle(n, func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			i := 0
			for b.Loop() {
				e := &entries[i]
				table.Lookup(e.Username, e.Schemaname, e.FlagIn)
				if i++; i == n {
					i = 0
				}
			}
		})
	}
}
