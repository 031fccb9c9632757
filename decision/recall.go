package decision

// Recall sets what a question's session has by its cookie, for a caller that keeps no random value: the route that it got, or
// that none matched. Otherwise draw tells that the guideline in force asks for a random value, and that the caller is to set
// Session.RandomValue to a number drawn from [0,1). The cookie may be empty, broken, or of another generation.
func (g *Generation) Recall(q *Question, cookie []byte) (draw bool) {
	s := &q.Session
	s.KeptRoute, s.RandomDrawn = None, false
	if !g.LooksAtRandomValue() {
		return false
	}
	if number, route, ok := ParseCookie(cookie); ok && number == g.number && g.guide.keeps(route) {
		s.KeptRoute = route
		return false
	}
	s.RandomDrawn = true
	return true
}
