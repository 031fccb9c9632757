package facts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pointsman/pointsman/decision/guideline"
)

// The beginnings of variables' names.
const (
	routerScope = "router."
	serverScope = "server."
	sqlScope    = "sql."

	routerTags = routerScope + "tags."
	serverTags = serverScope + "tags."
)

// keyed are the beginnings of names whose last part is anybody's choice.
var keyed = []string{routerTags, serverTags, "session.connectAttrs.", sqlScope + "queryTags.", sqlScope + "queryHints."}

// FromJSON makes variables of a JSON object's members, sorted by name. Names have no "$.", and a tag's value is its compact
// JSON text. What the language has must have its type; the error names the member.
func FromJSON(members map[string]any) ([]guideline.Variable, error) {
	list := make([]guideline.Variable, 0, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if plain, found := strings.CutPrefix(name, "$."); found {
			return nil, fmt.Errorf("%s: names stand without \"$.\" here; write %s", name, plain)
		}
		value, err := valueOf(members[name])
		v := guideline.Variable{Name: name, Value: value}
		if err == nil && known(name) {
			err = fits(v)
		} else if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func valueOf(v any) (guideline.Value, error) {
	switch v := v.(type) {
	case nil:
		return guideline.Value{}, nil
	case string:
		return guideline.Value{Type: guideline.String, Text: v}, nil
	case float64:
		return guideline.Value{Type: guideline.Number, Number: v}, nil
	case bool:
		return guideline.Value{Type: guideline.Boolean, Bool: v}, nil
	}
	return guideline.Value{}, errors.New("want a text, a number, true, false or null; a tag's value is its compact JSON text")
}

// Parse reads NAME=VALUE. The value has the type of the variable; that of one which the language does not have is a number,
// true, false or null as JSON writes them, else a text. A tag's value is JSON, or a text without quotes.
func Parse(text string) (guideline.Variable, error) {
	name, value, found := strings.Cut(text, "=")
	name = strings.TrimPrefix(name, "$.")
	if !found || name == "" {
		return guideline.Variable{}, fmt.Errorf("%q: write NAME=VALUE, for example server.port=3306", text)
	}
	v := guideline.Variable{Name: name, Value: guideline.Value{Type: guideline.String, Text: value}}
	if strings.HasPrefix(name, routerTags) || strings.HasPrefix(name, serverTags) {
		v.Value.Text = tagText(value)
		return v, nil
	}
	if known(name) && fits(v) == nil {
		return v, nil
	}
	var scalar any
	if json.Unmarshal([]byte(value), &scalar) == nil {
		if other, err := valueOf(scalar); err == nil {
			v.Value = other
		}
	}
	if !known(name) {
		return v, nil
	}
	return v, fits(v)
}

// known tells whether the language has a variable of that name.
func known(name string) bool {
	for _, prefix := range keyed {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	var set guideline.Variables
	return set.Add(name)
}

// fits tells why the language's variable doesn't take the value.
func fits(v guideline.Variable) error {
	list := []guideline.Variable{v}
	var err error
	switch {
	case strings.HasPrefix(v.Name, routerScope):
		_, err = guideline.NewRouter(list)
	case strings.HasPrefix(v.Name, serverScope):
		_, err = guideline.NewServer(list)
	case strings.HasPrefix(v.Name, sqlScope): // always NULL
	default:
		_, err = guideline.NewSession(list)
	}
	return err
}

// tagText gives the compact JSON text of a tag.
func tagText(value string) string {
	var out bytes.Buffer
	if json.Compact(&out, []byte(value)) == nil {
		return out.String()
	}
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(value) // a text always encodes
	return strings.TrimSuffix(out.String(), "\n")
}
