package decision

// Kept tells how many places the pools that are kept have in their tiers.
func (p *Pools) Kept() (places int) {
	for i := range p.kept.slots {
		if pool := p.kept.slots[i].Load(); pool != nil {
			places += pool.size
		}
	}
	return places
}

// Scope is the cache scope that the reasons of an explanation come to.
func (x *Explanation) Scope() CacheScope { return x.scope }
