package decision

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/pointsman/pointsman/decision/rules"
)

// Setting is one thing that a rule or an annotation set.
type Setting struct {
	Name         string // as the column of query_rules, or for what only annotations set as in the API's answer
	Value        string // for people
	OverriddenBy string // what set it anew or made it count for nothing, e.g. "rule 7"; empty: it counts
}

const columnDestination = "destination_hostgroup"

// effectColumns are the names and values of effects, in the order of the columns.
var effectColumns = [...]struct {
	field Field
	name  string
	value func(*Effects) any
}{
	{CacheTTL, "cache_ttl", func(e *Effects) any { return e.CacheTTL }},
	{CacheEmptyResult, "cache_empty_result", func(e *Effects) any { return e.CacheEmptyResult }},
	{CacheTimeout, "cache_timeout", func(e *Effects) any { return e.CacheTimeout }},
	{Reconnect, "reconnect", func(e *Effects) any { return e.Reconnect }},
	{Timeout, "timeout", func(e *Effects) any { return e.Timeout }},
	{Retries, "retries", func(e *Effects) any { return e.Retries }},
	{Delay, "delay", func(e *Effects) any { return e.Delay }},
	{NextQueryFlagIn, "next_query_flag_in", func(e *Effects) any { return e.NextQueryFlagIn }},
	{MirrorFlagOut, "mirror_flag_out", func(e *Effects) any { return e.MirrorFlagOut }},
	{MirrorHostgroup, "mirror_hostgroup", func(e *Effects) any { return e.MirrorHostgroup }},
	{ErrorMsg, "error_msg", func(e *Effects) any { return e.ErrorMsg }},
	{OKMsg, "ok_msg", func(e *Effects) any { return e.OKMsg }},
	{StickyConn, "sticky_conn", func(e *Effects) any { return e.StickyConn }},
	{Multiplex, "multiplex", func(e *Effects) any { return e.Multiplex }},
	{GTIDFromHostgroup, "gtid_from_hostgroup", func(e *Effects) any { return e.GTIDFromHostgroup }},
	{Log, "log", func(e *Effects) any { return e.Log }},
	{MaxLagMS, "max_lag_ms", func(e *Effects) any { return e.MaxLagMS }},
	{MinGTID, "min_gtid", func(e *Effects) any { return string(e.MinGTID) }},
	{CreateNewConn, "create_new_conn", func(e *Effects) any { return e.CreateNewConn }},
}

func nameOf(f Field) string {
	for i := range effectColumns {
		if effectColumns[i].field == f {
			return effectColumns[i].name
		}
	}
	return ""
}

// settingsOf gives a destination and the effects that are set and among the given ones.
func settingsOf(destination int32, e *Effects, among Field) []Setting {
	var out []Setting
	if destination != None {
		out = append(out, Setting{Name: columnDestination, Value: strconv.Itoa(int(destination))})
	}
	for i := range effectColumns {
		if c := &effectColumns[i]; e.Has(c.field) && among&c.field != 0 {
			out = append(out, Setting{Name: c.name, Value: rules.Excerpt(fmt.Append(nil, c.value(e)), 0)})
		}
	}
	return out
}

// settings is everything that was set on a statement's way, in order.
type settings []settingBy

// settingBy is a setting and what it came from. Without a setting it only overrides earlier ones of that name.
type settingBy struct {
	setting *Setting
	name    string
	by      string
	rule    uint32 // 0: no rule
}

// addWalk adds what the rules of a walk set.
func (s *settings) addWalk(steps []RuleStep, t *rules.Trace) {
	for i := range steps {
		step := &steps[i]
		for j := range step.Set {
			*s = append(*s, settingBy{&step.Set[j], step.Set[j].Name, byRule(step.RuleID), step.RuleID})
		}
	}
	s.addDropped(t)
}

// addDropped adds what matches set that are in no step.
func (s *settings) addDropped(t *rules.Trace) {
	if t.DroppedMatches == 0 {
		return
	}
	add := func(name string, rule uint32) {
		if rule != 0 {
			*s = append(*s, settingBy{nil, name, byRule(rule), rule})
		}
	}
	for i := range effectColumns {
		add(effectColumns[i].name, t.DroppedSetter(effectColumns[i].field))
	}
	add(columnDestination, t.DroppedDestinationSetter())
}

func (s *settings) add(setting *Setting, by string) {
	*s = append(*s, settingBy{setting, setting.Name, by, 0})
}

// overridden says that nothing set so far under this name counts.
func (s *settings) overridden(name, by string) { *s = append(*s, settingBy{nil, name, by, 0}) }

// last gives what set something last; the zero value when nothing did.
func (s *settings) last(name string) settingBy {
	for _, b := range slices.Backward(*s) {
		if b.name == name {
			return b
		}
	}
	return settingBy{}
}

// resolve fills in what overrode each setting: the next one of its name.
func (s *settings) resolve() {
	next := make(map[string]string)
	for _, b := range slices.Backward(*s) {
		if b.setting != nil {
			b.setting.OverriddenBy = next[b.name]
		}
		next[b.name] = b.by
	}
}

func byRule(id uint32) string { return fmt.Sprintf("rule %d", id) }
