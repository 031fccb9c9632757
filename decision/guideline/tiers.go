package guideline

// Tiers gives the servers of a route's groups, one tier for each of Groups in their order, empty ones included: class by
// class as the group names them, and in each class the servers in their order. A server that is in two classes of a group
// stands twice, as in MySQL Router. classesOf holds the classes of each server as Classify gives them, none for a server
// that must not be chosen.
func (g *Guideline) Tiers(route int, classesOf [][]int) [][]int {
	members := make([][]int, len(g.classes))
	for server, classes := range classesOf {
		for _, class := range classes {
			members[class] = append(members[class], server)
		}
	}
	groups := g.routes[route].Groups
	tiers := make([][]int, len(groups))
	for i := range groups {
		for _, class := range groups[i].classes {
			tiers[i] = append(tiers[i], members[class]...)
		}
	}
	return tiers
}
