package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pointsman/pointsman/decision"
)

// Site is what routing guidelines see of this gateway as $.router. It must not be changed once a Holder has it.
type Site struct {
	Name         string
	Hostname     string
	LocalCluster string
	Tags         map[string]string // the compact JSON text of each value
	Listeners    []Listener
}

// Listener is a place where clients come in. A Unix socket has neither address nor port.
type Listener struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Port    uint32 `json:"port"`
}

// ParseTags reads a gateway's tags, a JSON object; an empty text has none.
func ParseTags(text string) (map[string]string, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no tags
	}
	var tags map[string]any
	err := json.Unmarshal([]byte(text), &tags)
	if err == nil && tags == nil {
		err = errors.New("it is null")
	}
	if err != nil {
		return nil, fmt.Errorf("%s is no JSON object such as {\"zone\":\"a\"}: %w", text, err)
	}
	if key, found := repeatedKey(json.NewDecoder(strings.NewReader(text))); found {
		return nil, fmt.Errorf("%s has the key %q twice in one object; remove one of the two", text, key)
	}
	return decision.TagTexts(tags), nil
}

// repeatedKey finds a key that an object of a valid JSON value has twice.
func repeatedKey(d *json.Decoder) (key string, found bool) {
	begin, _ := d.Token()
	if begin != json.Delim('{') && begin != json.Delim('[') {
		return "", false
	}
	seen := map[string]bool{}
	for d.More() {
		if begin == json.Delim('{') {
			token, _ := d.Token()
			key, _ := token.(string)
			if seen[key] {
				return key, true
			}
			seen[key] = true
		}
		if key, found := repeatedKey(d); found {
			return key, true
		}
	}
	_, _ = d.Token() // its end
	return "", false
}
