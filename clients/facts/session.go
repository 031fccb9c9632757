package facts

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pointsman/pointsman/decision/guideline"
)

// Router makes a gateway's facts of texts like "name=gw1", "port.rw=6446" and "tags.zone=eu"; nil of none. What is not given
// is empty, as the API has it.
func Router(texts []string) (*guideline.Router, error) {
	if len(texts) == 0 {
		return nil, nil //nolint:nilnil // nothing is known
	}
	vars := make([]guideline.Variable, len(texts))
	for i, text := range texts {
		var err error
		if vars[i], err = Parse(routerScope + strings.TrimPrefix(strings.TrimPrefix(text, "$."), routerScope)); err != nil {
			return nil, err
		}
	}
	r, err := guideline.NewRouter(vars)
	if err != nil {
		return nil, err
	}
	for _, port := range []float64{r.PortRO, r.PortRW, r.PortRWSplit} {
		if port < 0 || port > math.MaxUint16 || port != math.Trunc(port) {
			return nil, fmt.Errorf("%v is no port", port)
		}
	}
	r.Null = 0
	return r, nil
}

// RouterTexts gives the texts that [Router] makes the same facts of.
func RouterTexts(r *guideline.Router) []string {
	if r == nil {
		return nil
	}
	var texts []string
	add := func(name, value string) {
		if value != "" && value != "0" {
			texts = append(texts, name+"="+value)
		}
	}
	port := func(name string, n float64) { add(name, strconv.FormatFloat(n, 'f', -1, 64)) }
	add("name", r.Name)
	add("hostname", r.Hostname)
	add("localCluster", r.LocalCluster)
	add("routeName", r.RouteName)
	add("bindAddress", r.BindAddress)
	port("port.rw", r.PortRW)
	port("port.ro", r.PortRO)
	port("port.rw_split", r.PortRWSplit)
	for _, key := range slices.Sorted(maps.Keys(r.Tags)) {
		texts = append(texts, "tags."+key+"="+r.Tags[key])
	}
	return texts
}

// Attributes makes connection attributes of texts like "program_name=batch".
func Attributes(texts []string) (map[string]string, error) {
	attributes := make(map[string]string, len(texts))
	for _, text := range texts {
		name, value, found := strings.Cut(text, "=")
		if !found || name == "" {
			return nil, fmt.Errorf("%q: write NAME=VALUE, for example program_name=batch", text)
		}
		attributes[name] = value
	}
	return attributes, nil
}

// AttributeTexts gives the texts that [Attributes] makes the same attributes of, sorted.
func AttributeTexts(attributes map[string]string) []string {
	texts := make([]string, 0, len(attributes))
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		texts = append(texts, name+"="+attributes[name])
	}
	return texts
}

// Addresses are those of a host: in JSON one text, or a list.
type Addresses []string

// UnmarshalJSON takes both.
func (a *Addresses) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*a = Addresses{one}
		return nil
	}
	var list []string
	if json.Unmarshal(raw, &list) != nil {
		return fmt.Errorf("resolve_cache: want for each host an address, or a list of addresses, as texts; got %.40s", raw)
	}
	*a = list
	return nil
}

// Names makes the addresses that RESOLVE_V4 and RESOLVE_V6 find: of each host the first of each family.
func Names(hosts map[string]Addresses) guideline.Names {
	plain := make(map[string][]string, len(hosts))
	for host, list := range hosts {
		plain[host] = list
	}
	return guideline.NewNames(plain)
}

// ParseNames reads texts like "app.example.com=10.1.2.3"; a host may come more than once.
func ParseNames(texts []string) (guideline.Names, error) {
	hosts := make(map[string]Addresses)
	for _, text := range texts {
		host, address, found := strings.Cut(text, "=")
		if !found || host == "" || address == "" {
			return nil, fmt.Errorf("%q: write HOST=ADDRESS", text)
		}
		hosts[host] = append(hosts[host], address)
	}
	return Names(hosts), nil
}
