package guideline

// readDestination reads one destination class.
func (r *documentReader) readDestination(path string, v *jsonValue) {
	if !r.object(path, v) {
		return
	}
	var name string
	var match rule
	for i := range v.children {
		member := &v.children[i]
		switch member.key {
		case "name":
			name = r.text(path+".name", member)
		case "match":
			match = r.readRule(path+".match", member, destinationScope)
		default:
			r.problems.add(path+"."+member.key, "unexpected field name, only 'name' and 'match' are allowed")
		}
	}
	if name == "" {
		r.problems.add(path, "'name' field not defined")
	}
	if !match.parsed {
		r.problems.add(path, "'match' field not defined")
	}
	if name == "" || match.expression == nil {
		return
	}
	if _, taken := r.classes[name]; taken {
		r.problems.add(path, "'"+name+"' class was already defined")
		return
	}
	r.classes[name] = len(r.guideline.classes)
	r.guideline.classes = append(r.guideline.classes, Class{Name: name, Match: match.text, rule: match.expression})
}
