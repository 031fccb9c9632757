package guideline

import "slices"

// isNetwork tells NETWORK(address, bits) with bits that are valid.
func isNetwork(n *node) bool {
	if n.op != opCall || n.function.name != "NETWORK" {
		return false
	}
	bits := n.args[1].constant.Number
	return bits >= 1 && bits < 33
}

// networkTest is the comparison of a network with constants: an address is masked and compared as a number.
type networkTest struct {
	address *node
	mask    uint32
	wanted  []uint32
	equal   bool
}

// networkTestOf takes a comparison for one of a network with constants, or gives nil.
func networkTestOf(n *node) *networkTest {
	with := comparisonOf(n)
	if with == nil || !isNetwork(with.needle) {
		return nil
	}
	t := &networkTest{address: with.needle.args[0], mask: netmask(int(with.needle.args[1].constant.Number)), equal: with.equal}
	for _, constant := range with.constants {
		// A text that is no address as NETWORK prints them equals none.
		if address, ok := parseIPv4(constant.constant.Text); ok {
			t.wanted = append(t.wanted, address)
		}
	}
	return t
}

// isSource tells a test of the session's source address, which is read once.
func (t *networkTest) isSource() bool {
	return t.address.op == opVariable && t.address.variable.id == sessionSourceIP
}

// networkTest compiles a test of a network.
func (c *compiler) networkTest(t *networkTest) truthFunc {
	address := c.address(t)
	mask, wanted, equal := t.mask, t.wanted, t.equal
	return func(f *Facts) state {
		a, ok := address(f)
		if !ok {
			return failed
		}
		return stateOf(slices.Contains(wanted, a&mask) == equal)
	}
}

// address compiles the STRING part that has to be an IPv4 address; everything else, NULL too, fails.
func (c *compiler) address(t *networkTest) func(f *Facts) (uint32, bool) {
	if t.isSource() {
		return (*Facts).sourceIPv4
	}
	text := c.text(t.address)
	return func(f *Facts) (uint32, bool) {
		t, known := text(f)
		if known != yes {
			return 0, false
		}
		return parseIPv4(t)
	}
}

// sourceIPv4 reads the session's source address once.
func (f *Facts) sourceIPv4() (uint32, bool) {
	if !f.source.looked {
		f.lookAtSource()
	}
	return f.source.address, f.source.valid
}

func (f *Facts) lookAtSource() {
	text, known := f.text(sessionSourceIP)
	address, valid := parseIPv4(text)
	f.source = sourceAddress{looked: true, valid: known && valid, address: address}
}
