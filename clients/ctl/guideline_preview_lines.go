package ctl

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pointsman/pointsman/clients/facts"
	"github.com/pointsman/pointsman/decision/guideline"
)

// previewQuestion is a line of guideline preview: a document and the facts to try it on, by the variables' names.
type previewQuestion struct {
	Guideline    json.RawMessage            `json:"guideline"`
	Router       map[string]any             `json:"router"`
	Servers      []map[string]any           `json:"servers"`
	Session      map[string]any             `json:"session"`
	ResolveCache map[string]facts.Addresses `json:"resolve_cache"`
}

// previewAnswer is what a line gives.
type previewAnswer struct {
	Classes serverClasses `json:"classes"`
	Route   *string       `json:"route"`
	Tiers   [][]string    `json:"tiers"`
	Errors  []string      `json:"errors"`
}

// serverClasses is an object of the servers' classes by label, in the servers' order.
type serverClasses []guideline.ServerClasses

func (c serverClasses) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, server := range c {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = appendJSON(out, server.Label); err != nil {
			return nil, err
		}
		out = append(out, ':')
		if out, err = appendJSON(out, list(server.Classes)); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

// list gives a list that JSON shows as [] when it is empty.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

func previewLine(dst, line []byte) ([]byte, error) {
	var asked previewQuestion
	if err := readLine(line, &asked); err != nil {
		return dst, err
	}
	document, err := asked.document()
	if err != nil {
		return dst, badLine("%v", err)
	}
	q, err := asked.facts()
	if err != nil {
		return dst, badLine("%v", err)
	}
	answer := guideline.Preview(document, q)
	out := previewAnswer{Classes: answer.Classes, Tiers: make([][]string, len(answer.Tiers)), Errors: list(answer.Errors)}
	for i, tier := range answer.Tiers {
		out.Tiers[i] = list(tier)
	}
	if answer.Route != nil {
		out.Route = &answer.Route.Name
	}
	return appendJSON(dst, out)
}

// document gives the guideline's bytes: it stands in the line as an object or as a text.
func (q *previewQuestion) document() ([]byte, error) {
	if len(q.Guideline) == 0 {
		return nil, errors.New("guideline is missing")
	}
	if q.Guideline[0] != '"' {
		return q.Guideline, nil
	}
	var text string
	if err := json.Unmarshal(q.Guideline, &text); err != nil {
		return nil, fmt.Errorf("guideline: %w", err)
	}
	return []byte(text), nil
}

func (q *previewQuestion) facts() (out guideline.PreviewQuestion, err error) {
	out.Names = facts.Names(q.ResolveCache)
	vars, err := facts.FromJSON(q.Router)
	if err == nil {
		out.Router, err = guideline.NewRouter(vars)
	}
	if err != nil {
		return out, fmt.Errorf("router: %w", err)
	}
	if vars, err = facts.FromJSON(q.Session); err == nil {
		out.Session, err = guideline.NewSession(vars)
	}
	if err != nil {
		return out, fmt.Errorf("session: %w", err)
	}
	place := make(map[string]int, len(q.Servers))
	for i, members := range q.Servers {
		vars, err := facts.FromJSON(members)
		if err != nil {
			return out, fmt.Errorf("servers[%d]: %w", i, err)
		}
		server, err := guideline.NewServer(vars)
		if err != nil {
			return out, fmt.Errorf("servers[%d]: %w", i, err)
		}
		if server.Label == "" {
			return out, fmt.Errorf("servers[%d]: server.label is missing; it names the server in the answer", i)
		}
		if first, taken := place[server.Label]; taken {
			return out, fmt.Errorf("servers[%d]: server.label %q is already that of servers[%d]; it names the server in the answer", i, server.Label, first)
		}
		place[server.Label] = i
		out.Servers = append(out.Servers, *server)
	}
	return out, nil
}
