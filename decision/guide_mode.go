package decision

import (
	"fmt"
	"strconv"
)

// ListenerMode says which of a route's servers the statements of a listener's sessions may go to.
type ListenerMode uint8

// The modes.
const (
	ListenerRWSplit ListenerMode = iota // the writer hostgroup's to primaries, the reader hostgroup's to the others
	ListenerRW                          // to all of them
	ListenerRO                          // to all of them
)

var listenerModes = [...]string{ListenerRWSplit: "rw_split", ListenerRW: "rw", ListenerRO: "ro"}

// String gives the mode as a binding spells it.
func (m ListenerMode) String() string {
	if int(m) < len(listenerModes) {
		return listenerModes[m]
	}
	return fmt.Sprintf("mode %d", uint8(m))
}

func parseListenerMode(text string) (ListenerMode, bool) {
	for m, name := range listenerModes {
		if text == name {
			return ListenerMode(m), true
		}
	}
	return 0, false
}

// Listener is a gateway's listener: its name ($.router.routeName) and port. Empty and 0: unknown.
type Listener struct {
	Name string
	Port uint32
}

// Mode gives the mode of a listener.
func (d *Guide) Mode(l Listener) ListenerMode {
	m, _ := d.mode(l)
	return m
}

// mode tells for people where the mode comes from, too.
func (d *Guide) mode(l Listener) (mode ListenerMode, source modeSource) {
	if m, ok := d.named[l.Name]; ok {
		return m, modeOfName
	}
	if m, ok := d.ported[l.Port]; ok {
		return m, modeOfPort
	}
	if m, ok := parseListenerMode(l.Name); ok {
		return m, modeIsName
	}
	return d.defaultMode, modeOfDefault
}

// modeSource says which step of the lookup gave a listener's mode.
type modeSource uint8

const (
	modeOfName modeSource = iota
	modeOfPort
	modeIsName
	modeOfDefault
)

// describe tells the step for people.
func (s modeSource) describe(l Listener) string {
	switch s {
	case modeOfName:
		return fmt.Sprintf("guideline_binding.listeners has the listener's name %q", l.Name)
	case modeOfPort:
		return fmt.Sprintf("guideline_binding.listeners has the listener's port %d", l.Port)
	case modeIsName:
		return "it is the listener's name"
	case modeOfDefault:
	}
	return fmt.Sprintf("guideline_binding.default_mode: listeners names neither %q nor port %d", l.Name, l.Port)
}

// splits tells whether some listener may have the mode rw_split.
func (d *Guide) splits() bool {
	for _, m := range d.named {
		if m == ListenerRWSplit {
			return true
		}
	}
	return d.defaultMode == ListenerRWSplit
}

// modes fills the tables of listeners. A key that is a port in decimal counts for both a name and a port.
func (d *Guide) modes(b *GuidelineBinding) {
	d.named = make(map[string]ListenerMode, len(b.Listeners))
	d.ported = make(map[uint32]ListenerMode)
	for key, text := range b.Listeners {
		m, _ := parseListenerMode(text)
		d.named[key] = m
		if port, err := strconv.ParseUint(key, 10, 16); err == nil && port > 0 && strconv.FormatUint(port, 10) == key {
			d.ported[uint32(port)] = m
		}
	}
	d.defaultMode, _ = parseListenerMode(*b.DefaultMode)
}
