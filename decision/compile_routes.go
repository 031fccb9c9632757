package decision

import "github.com/pointsman/pointsman/decision/fastroute"

// fastRoutes gives the table all rows, in step with the document, so that the table's duplicates are the document's. A
// row that is wrong makes its configuration fail and is never asked for.
func (c *compiler) fastRoutes() {
	entries := make([]fastroute.Entry, len(c.cfg.FastRoutes))
	strange := strangeFlags{}
	for i := range c.cfg.FastRoutes {
		r := &c.cfg.FastRoutes[i]
		entries[i] = fastroute.Entry{
			Username:             r.Username,
			Schemaname:           r.Schemaname,
			FlagIn:               strange.flag(r.FlagIn),
			DestinationHostgroup: int32(r.DestinationHostgroup),
		}
	}
	table, duplicates := fastroute.Build(entries)
	c.g.fastRoutes = table
	for i := range c.cfg.FastRoutes {
		r := &c.cfg.FastRoutes[i]
		at := row{list: "fast_routes", index: i, severity: Error}
		ok := c.inRange(at, "flag_in", r.FlagIn, 0, maxInt32)
		ok = c.inRange(at, "destination_hostgroup", r.DestinationHostgroup, 0, maxInt32) && ok
		if len(duplicates) > 0 && duplicates[0].Second == i {
			c.reportf(at, "", codeDuplicateKey,
				"username %q, schemaname %q, flag_in %d is already the key of fast_routes[%d]; remove one of the two", r.Username, r.Schemaname, r.FlagIn, duplicates[0].First)
			duplicates = duplicates[1:]
			continue
		}
		if ok {
			c.wantHostgroup(at, "destination_hostgroup", int32(r.DestinationHostgroup))
		}
	}
}

// strangeFlags gives flags that are out of range a number below 0 each, so that they stay apart in the table.
type strangeFlags map[int64]int32

func (s strangeFlags) flag(n int64) int32 {
	if n >= 0 && n <= maxInt32 {
		return int32(n)
	}
	flag, ok := s[n]
	if !ok {
		flag = int32(-1 - len(s))
		s[n] = flag
	}
	return flag
}
