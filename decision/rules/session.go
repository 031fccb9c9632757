package rules

// Attributes are what rules may look at of a session, as it was sent.
type Attributes struct {
	Username   string
	Schemaname string
	ClientAddr string // empty: unknown, fits every client_addr
	ProxyAddr  string // empty: unknown, fits every proxy_addr
	ProxyPort  int32
}

// Session is a session as one Set sees it. It never changes and serves any number of walks.
type Session struct {
	user, schema uint32 // 0: no rule names it
	port         uint32
	clients      fits
	plain        places // see index
	digestReach  places
	textReach    places
	proxies      fits
	far          []uint32 // the profiles under which rules of crowded anchors are found

	Attributes
}

// Resolve looks up once what all walks of a session have in common.
func (s *Set) Resolve(a *Attributes) *Session {
	x := s.index
	r := &Session{
		Attributes: *a,
		user:       x.profiles.users[a.Username],
		schema:     x.profiles.schemas[a.Schemaname],
		clients:    x.profiles.clients.fits(a.ClientAddr),
		proxies:    x.profiles.proxies.fits(a.ProxyAddr),
		port:       uint32(a.ProxyPort + 1),
	}
	var plain, digestReach, textReach [][]place
	for _, n := range x.profiles.find(r) {
		plain = addList(plain, x.plain[n])
		digestReach = addList(digestReach, x.digestReach[n])
		textReach = addList(textReach, x.textReach[n])
		if x.isFar[n] {
			r.far = append(r.far, n)
		}
	}
	r.plain, r.digestReach, r.textReach = join(plain), join(digestReach), join(textReach)
	return r
}

func addList(lists [][]place, list []place) [][]place {
	if len(list) == 0 {
		return lists
	}
	return append(lists, list)
}

// AppendClass appends what the rules of the Set can tell of the session: equal for two sessions only if every walk is the
// same for both. It depends on the rules alone, not on how they are numbered.
func (s *Set) AppendClass(dst []byte, r *Session) []byte {
	for _, n := range s.index.profiles.find(r) {
		dst = append(dst, s.index.profiles.sums[n][:]...)
	}
	return dst
}
