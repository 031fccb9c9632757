package decision

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pointsman/pointsman/decision/rules"
)

// flagOutsForm is what the attribute should look like.
const flagOutsForm = `{"flagOUTs":[{"id":1,"weight":3},{"id":2,"weight":1}]}`

// flagOuts reads the weighted flags of a rule's attributes. Other keys are of no effect, as in ProxySQL.
func (c *compiler) flagOuts(at row, attributes string) []rules.WeightedFlag {
	bad := func(pos int, code, format string, args ...any) {
		c.report(at, "attributes", pos, code, fmt.Sprintf(format, args...)+"; write for example "+flagOutsForm)
	}
	var document json.RawMessage
	if err := json.Unmarshal([]byte(attributes), &document); err != nil {
		pos := whole
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			pos = min(max(int(syntax.Offset)-1, 0), len(attributes))
		}
		bad(pos, codeAttributesJSON, "attributes is not JSON: %s", err)
		return nil
	}
	r := jsonReader{text: attributes, Decoder: json.NewDecoder(strings.NewReader(attributes))}
	if !r.enter('{') {
		bad(0, codeAttributesJSON, "attributes is no JSON object")
		return nil
	}
	var list []rules.WeightedFlag
	for r.More() {
		if key, err := r.Token(); err != nil || key != "flagOUTs" {
			r.next()
			continue
		}
		list = list[:0]
		if pos := r.offset(); !r.enter('[') {
			bad(pos, codeBadFlagOuts, "flagOUTs is no list")
			return nil
		}
		for i := 0; r.More(); i++ {
			pos := r.offset()
			flag, problem := weightedFlag(r.next())
			if problem != "" {
				bad(pos, codeBadFlagOuts, "flagOUTs[%d] %s", i, problem)
				continue
			}
			list = append(list, flag)
		}
		r.enter(']')
	}
	return list
}

func weightedFlag(raw json.RawMessage) (f rules.WeightedFlag, problem string) {
	var item map[string]json.RawMessage
	if err := json.Unmarshal(raw, &item); err != nil || item == nil {
		return f, "is no object with id and weight"
	}
	id, err := strconv.ParseUint(string(item["id"]), 10, 31)
	if err != nil {
		return f, fmt.Sprintf("needs an id that is an integer from 0 to %d", maxInt32)
	}
	weight, err := strconv.ParseUint(string(item["weight"]), 10, 32)
	if err != nil {
		return f, fmt.Sprintf("needs a weight that is an integer from 0 to %d", uint32(maxUint32))
	}
	return rules.WeightedFlag{ID: int32(id), Weight: uint32(weight)}, ""
}

// jsonReader walks a text that is known to be valid JSON.
type jsonReader struct {
	text string
	*json.Decoder
}

// offset is where the next value starts.
func (r *jsonReader) offset() int {
	at := int(r.InputOffset())
	for at < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[at]) >= 0 {
		at++
	}
	return at
}

// next reads a whole value.
func (r *jsonReader) next() (raw json.RawMessage) {
	_ = r.Decode(&raw) // the text is valid
	return raw
}

// enter reads one token and tells whether it is the given delimiter.
func (r *jsonReader) enter(d json.Delim) bool {
	t, err := r.Token()
	return err == nil && t == d
}
