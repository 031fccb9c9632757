package decision

import "github.com/pointsman/pointsman/decision/fastroute"

type fastRouteKey struct {
	username, schemaname string
	flagIn               int64
}

func (c *compiler) fastRoutes() {
	entries := make([]fastroute.Entry, 0, len(c.cfg.FastRoutes))
	first := make(map[fastRouteKey]int, len(c.cfg.FastRoutes))
	for i := range c.cfg.FastRoutes {
		r := &c.cfg.FastRoutes[i]
		at := row{list: "fast_routes", index: i, severity: Error}
		ok := c.inRange(at, "flag_in", r.FlagIn, 0, maxInt32)
		ok = c.inRange(at, "destination_hostgroup", r.DestinationHostgroup, 0, maxInt32) && ok
		key := fastRouteKey{r.Username, r.Schemaname, r.FlagIn}
		if other, dup := first[key]; dup {
			c.reportf(at, "", codeDuplicateKey,
				"username %q, schemaname %q, flag_in %d is already the key of fast_routes[%d]; remove one of the two", r.Username, r.Schemaname, r.FlagIn, other)
			continue
		}
		first[key] = i
		if !ok {
			continue
		}
		c.wantHostgroup(at, "destination_hostgroup", int32(r.DestinationHostgroup))
		entries = append(entries, fastroute.Entry{
			Username:             r.Username,
			Schemaname:           r.Schemaname,
			FlagIn:               int32(r.FlagIn),
			DestinationHostgroup: int32(r.DestinationHostgroup),
		})
	}
	c.g.fastRoutes, _ = fastroute.Build(entries)
}
