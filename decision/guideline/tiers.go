package guideline

// Tiers gives the servers of a route's groups, one tier for each of Groups in their order, empty ones included: class by
// class as the group names them, and in each class the servers in their order. A server that is in two classes of a group
// stands twice, as in MySQL Router. classesOf holds the classes of each server as Classify gives them, none for a server
// that must not be chosen.
func (g *Guideline) Tiers(route int, classesOf [][]int) [][]int {
	groups := g.routes[route].Groups
	members := make(map[int][]int) // of the classes that are asked for
	for i := range groups {
		for _, class := range groups[i].classes {
			members[class] = nil
		}
	}
	for server, classes := range classesOf {
		for _, class := range classes {
			if of, asked := members[class]; asked {
				members[class] = append(of, server)
			}
		}
	}
	tiers := make([][]int, len(groups))
	for i := range groups {
		for _, class := range groups[i].classes {
			tiers[i] = append(tiers[i], members[class]...)
		}
	}
	return tiers
}
