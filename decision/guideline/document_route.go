package guideline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// readRoute reads one route. It is kept if it can be used, whatever its name is.
func (r *documentReader) readRoute(path string, v *jsonValue) {
	if !r.object(path, v) {
		return
	}
	route := Route{Enabled: true}
	seen := make(map[string]bool, len(v.children))
	for i := range v.children {
		member := &v.children[i]
		seen[member.key] = true
		switch member.key {
		case "name":
			route.Name = r.text(path+".name", member)
		case "enabled":
			route.Enabled = r.boolean(path+".enabled", member)
		case "connectionSharingAllowed":
			route.ConnectionSharing = new(r.boolean(path+".connectionSharingAllowed", member))
		case "match":
			match := r.readRule(path+".match", member, routeScope)
			route.Match, route.rule = match.text, match.expression
		case "destinations":
			r.readGroups(path+".destinations", member, &route)
		default:
			r.problems.add(path+"."+member.key,
				"unexpected field, only 'name', 'connectionSharingAllowed', 'enabled', 'match' and 'destinations' are allowed")
		}
	}
	r.missing(path, seen, "name", "match", "destinations")
	if route.rule == nil || len(route.Groups) == 0 {
		return
	}
	if r.routes[route.Name] {
		r.problems.add(path, "'"+route.Name+"' route was already defined")
		return
	}
	if route.Name != "" {
		r.routes[route.Name] = true
	}
	r.guideline.routes = append(r.guideline.routes, route)
}

// missing notes the fields that an object lacks.
func (r *documentReader) missing(path string, seen map[string]bool, fields ...string) {
	for _, field := range fields {
		if !seen[field] {
			r.problems.add(path, "'"+field+"' field not defined")
		}
	}
}

// readGroups adds the groups that can be used to a route.
func (r *documentReader) readGroups(path string, v *jsonValue, route *Route) {
	for i, entry := range r.list(path, v, maxGroups) {
		if group, ok := r.readGroup(path+"["+strconv.Itoa(i)+"]", &entry); ok {
			route.Groups = append(route.Groups, group)
		}
	}
}

func (r *documentReader) readGroup(path string, v *jsonValue) (group Group, usable bool) {
	if !r.object(path, v) {
		return group, false
	}
	known := false // the strategy
	seen := make(map[string]bool, len(v.children))
	for i := range v.children {
		member := &v.children[i]
		seen[member.key] = true
		switch member.key {
		case "classes":
			group.Classes = append(group.Classes, r.readClasses(path+".classes", member)...)
		case "strategy":
			group.Strategy, known = r.readStrategy(path+".strategy", member)
		case "priority":
			n, ok := unsigned(member)
			if !ok {
				r.problems.add(path+".priority", "field is expected to be a positive integer")
			}
			group.Priority = n
		default:
			r.problems.add(path+"."+member.key, "unexpected field name, only 'classes' and 'strategy' are allowed")
		}
	}
	r.missing(path, seen, "classes", "strategy")
	return group, known && len(group.Classes) > 0
}

// readClasses reads the names of a group's classes. Behind the one that is too many for the document nothing is read.
func (r *documentReader) readClasses(path string, v *jsonValue) (classes []string) {
	list := r.list(path, v, maxClasses)
	if r.named += len(list); r.named > maxReferences {
		r.problems.last(path, fmt.Sprintf("the groups of the document up to here name %d classes, repeats counted, the limit is %d", r.named, maxReferences))
		return nil
	}
	for i, entry := range list {
		if class := r.text(path+"["+strconv.Itoa(i)+"]", &entry); class != "" {
			classes = append(classes, class)
		}
	}
	return classes
}

func (r *documentReader) readStrategy(path string, v *jsonValue) (Strategy, bool) {
	text := r.text(path, v)
	if text == "" {
		return 0, false
	}
	i := slices.Index(strategyNames[:], text)
	if i < 0 {
		r.problems.add(path, "unexpected value '"+text+"', supported strategies: round-robin, first-available")
		return 0, false
	}
	return Strategy(i), true
}

// link resolves the names of classes and puts the groups in order. It needs a document that is otherwise right.
func (r *documentReader) link() {
	var rules []*Expression
	for i := range r.guideline.routes {
		route := &r.guideline.routes[i]
		for j := range route.Groups {
			r.linkGroup(route, &route.Groups[j])
		}
		slices.SortStableFunc(route.Groups, func(a, b Group) int { return cmp.Compare(a.Priority, b.Priority) })
		if route.Enabled {
			r.guideline.enabled = append(r.guideline.enabled, i)
			rules = append(rules, route.rule)
		}
	}
	r.guideline.program = programOf(rules)
}

func (r *documentReader) linkGroup(route *Route, group *Group) {
	for _, name := range group.Classes {
		class, ok := r.classes[name]
		if !ok {
			if r.problems.full {
				return // names may be long: don't put together texts that are not kept
			}
			r.problems.add("routes", "undefined destination class '"+name+"' found in route '"+route.Name+"'")
			continue
		}
		group.classes = append(group.classes, class)
	}
}
