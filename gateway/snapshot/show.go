package snapshot

import (
	"encoding/json"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// Show gives the configuration as JSON for operators: users, servers, hostgroups, settings, what is known at run time, and
// the guideline's name instead of its document. Of passwords it tells the form only: "clear text", "native hash",
// "caching_sha2 hash" or "empty".
func (s *Snapshot) Show() (json.RawMessage, error) {
	m := proto.CloneOf(s.message)
	for _, u := range m.GetUsers().GetUsers() {
		for _, password := range []*string{u.Password, u.BackendPassword} { //nolint:protogetter // to be changed
			if password != nil {
				*password = formOf(*password)
			}
		}
	}
	if g := m.GetGuideline(); g.GetDocument() != "" {
		g.Document = nameOf(g.GetDocument())
	}
	return protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
}

// formOf tells what kind of password a text is, without a word of it.
func formOf(password string) string {
	switch {
	case password == "":
		return "empty"
	case len(password) == 41 && password[0] == '*':
		return "native hash"
	case strings.HasPrefix(password, "$A$"):
		return "caching_sha2 hash"
	}
	return "clear text"
}

// nameOf gives the name in a guideline's document.
func nameOf(document string) string {
	var d struct{ Name string }
	if err := json.Unmarshal([]byte(document), &d); err != nil || d.Name == "" {
		return "(without a name)"
	}
	return d.Name
}
