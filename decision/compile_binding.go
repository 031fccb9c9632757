package decision

import (
	"fmt"
	"maps"
	"slices"
)

// binding checks the guideline's binding and gives it with its defaults, nil when it is not there or not good. It is wanted
// when a guideline is in force; without one, hostgroups may be left out.
func (c *compiler) binding(wanted bool) *GuidelineBinding {
	at := row{list: "guideline_binding", index: int(None), severity: Error}
	if c.cfg.GuidelineBinding == nil {
		if wanted {
			c.reportf(at, "", codeNoBinding,
				"a guideline is in force, but nothing says which statements it routes; give guideline_binding with writer_hostgroup and reader_hostgroup")
		}
		return nil
	}
	before := len(c.problems)
	b := *c.cfg.GuidelineBinding
	c.boundHostgroup(at, "writer_hostgroup", b.WriterHostgroup, wanted)
	c.boundHostgroup(at, "reader_hostgroup", b.ReaderHostgroup, wanted)
	for _, key := range slices.Sorted(maps.Keys(b.Listeners)) {
		field := fmt.Sprintf("listeners[%q]", key)
		if key == "" {
			c.reportf(at, field, codeEmptyKey, "a listener has no name; give the listener's name or port")
		}
		c.boundMode(at, field, b.Listeners[key])
	}
	b.DefaultMode = filled(b.DefaultMode, ListenerRWSplit.String())
	c.boundMode(at, "default_mode", *b.DefaultMode)
	if len(c.problems) > before {
		return nil
	}
	return &b
}

func (c *compiler) boundHostgroup(at row, field string, hostgroup *int32, wanted bool) {
	switch {
	case hostgroup == nil && wanted:
		c.reportf(at, field, codeNoBinding, "%s is missing; give the hostgroup whose statements the guideline routes (both may be the same)", field)
	case hostgroup == nil:
	case !c.inRange(at, field, int64(*hostgroup), 0, maxInt32):
	case wanted && !c.knows(*hostgroup):
		c.report(at, field, whole, codeUnknownHostgroup, unknownHostgroup(field, *hostgroup))
	default:
		c.wantHostgroup(at, field, *hostgroup)
	}
}

func (c *compiler) boundMode(at row, field, mode string) {
	if _, ok := parseListenerMode(mode); !ok {
		c.reportf(at, field, codeUnknownMode,
			"the mode is %q; give rw or ro (all of a route's servers), or rw_split (primaries for the writer hostgroup, the others for the reader hostgroup)", mode)
	}
}
