package decision

// Scope is the cache scope that the reasons of an explanation come to.
func (x *Explanation) Scope() CacheScope { return x.scope }
