package guideline

import (
	"fmt"
	"strconv"
)

// documentReader turns a document into a guideline. Members are read in the document's order; a repeated one is read each
// time: lists grow, of single values the last counts. Entries that can't be used are left out, so that what depends on
// them is judged as MySQL Router does.
type documentReader struct {
	problems  problemList
	guideline *Guideline
	options   ParseOptions
	classes   map[string]int  // index of each class
	routes    map[string]bool // names taken
	hosts     map[Host]bool   // those in guideline.hosts
	parts     int             // of the expressions so far
	named     int             // classes of the groups so far, repeats counted
}

func (r *documentReader) read(document []byte) {
	if len(document) > maxDocumentBytes {
		r.problems.add("", fmt.Sprintf("the document has %d bytes, the limit is %d", len(document), maxDocumentBytes))
		return
	}
	root, err := readJSON(string(document))
	if err != nil {
		r.problems.add("", err.Error())
		return
	}
	if root.kind != jsonObject {
		r.problems.add("", "routing guidelines needs to be specified as a JSON document")
		return
	}
	if !r.readVersion(&root) {
		return
	}
	if bad := checkSchema(&root); bad != nil {
		r.problems.add("", bad.text())
	}
	r.readMembers(&root)
	if len(r.problems.list) == 0 {
		r.link()
	}
}

// readVersion looks at the version before anything else, since what follows depends on it. A document without one is
// read as 1.0, and refused by the schema.
func (r *documentReader) readVersion(root *jsonValue) bool {
	v := lastMember(root, "version")
	if v == nil {
		return true
	}
	if v.kind != jsonString {
		r.problems.add("", "Unable to parse routing guidelines document: 'version' must be a string value")
		return false
	}
	parsed, ok := parseVersion(v.text)
	switch {
	case !ok:
		r.problems.add("", "Invalid routing guidelines version format. Expected <major>.<minor> got "+v.text)
	case !parsed.understood():
		r.problems.add("", "Update guidelines failed - routing guidelines version not supported. Router supported version is "+
			supported.String()+" but got "+v.text)
		ok = false
	}
	r.guideline.version = v.text
	r.options.JSONTags = parsed.jsonTags()
	return ok
}

func lastMember(v *jsonValue, key string) *jsonValue {
	for i := len(v.children) - 1; i >= 0; i-- {
		if v.children[i].key == key {
			return &v.children[i]
		}
	}
	return nil
}

func (r *documentReader) readMembers(root *jsonValue) {
	for i := range root.children {
		member := &root.children[i]
		switch member.key {
		case "version":
		case "name":
			r.guideline.name = r.text("name", member)
		case "destinations":
			for i, entry := range r.list("destinations", member, maxDestinations) {
				r.readDestination("destinations["+strconv.Itoa(i)+"]", &entry)
			}
		case "routes":
			for i, entry := range r.list("routes", member, maxRoutes) {
				r.readRoute("routes["+strconv.Itoa(i)+"]", &entry)
			}
		default:
			r.problems.add(member.key, "Unexpected field, only 'version', 'name', 'destinations', and 'routes' are allowed")
		}
	}
	if len(r.guideline.classes) == 0 {
		r.problems.add("", "no destination classes defined by the document")
	}
	if len(r.guideline.routes) == 0 {
		r.problems.add("", "no routes defined by the document")
	}
}

// text reads a text that must not be empty. A bad one is noted and reads as empty.
func (r *documentReader) text(path string, v *jsonValue) string {
	switch {
	case v.kind != jsonString:
		r.problems.add(path, "field is expected to be a string")
		return ""
	case v.text == "":
		r.problems.add(path, "field is expected to be a non empty string")
	}
	return v.text
}

// list reads a list that must not be empty. A bad one is noted and reads as empty.
func (r *documentReader) list(path string, v *jsonValue, limit int) []jsonValue {
	switch {
	case v.kind != jsonArray:
		r.problems.add(path, "field is expected to be an array")
		return nil
	case len(v.children) == 0:
		r.problems.add(path, "field is expected to be a non empty array")
	case len(v.children) > limit:
		r.problems.add(path, fmt.Sprintf("the list has %d entries, the limit is %d", len(v.children), limit))
		return nil
	}
	return v.children
}

// boolean reads true or false. A bad one is noted.
func (r *documentReader) boolean(path string, v *jsonValue) bool {
	if v.kind != jsonBoolean {
		r.problems.add(path, "field is expected to be boolean")
	}
	return v.text == "true"
}

// object tells whether an entry is an object. One that is not is noted.
func (r *documentReader) object(path string, v *jsonValue) bool {
	if v.kind != jsonObject {
		r.problems.add(path, "field is expected to be an object")
		return false
	}
	return true
}
