package decision

import (
	"strings"
	"sync/atomic"
)

// Bounds of the classes that a generation keeps: about 10 MB, whatever sessions there are.
const (
	classSlots = 1 << 14 // a power of two
	classWays  = 2       // neighbouring slots that a class may be in
	// maxKeyLength is the length of all texts of a session together up to which its class is kept, in bytes.
	maxKeyLength = 512
)

// classTable keeps the classes of sessions that were seen lately. Reading and writing take no lock: a class that is
// overwritten is resolved again when its session comes back. The zero value is empty.
type classTable struct {
	slots [classSlots]atomic.Pointer[class]
}

// find gives the class of that key, nil if it is not there.
func (t *classTable) find(key *classKey, hash uint64) *class {
	for way := range uint64(classWays) {
		if c := t.slots[(hash^way)%classSlots].Load(); c != nil && c.key == *key {
			return c
		}
	}
	return nil
}

// keep adds a class. It takes a free slot, else that of another class.
func (t *classTable) keep(c *class, hash uint64) {
	if c.key.length() > maxKeyLength {
		return
	}
	for way := range uint64(classWays) {
		if t.slots[(hash^way)%classSlots].CompareAndSwap(nil, c) {
			return
		}
	}
	// Bits of the hash that play no part in the place say which one has to go.
	t.slots[(hash^hash>>63)%classSlots].Store(c)
}

// clone copies the session's texts, which may be parts of larger ones, to one place.
func (k *classKey) clone() classKey {
	all := strings.Join([]string{k.username, k.schemaname, k.clientAddr, k.proxyAddr}, "")
	c := *k
	for _, text := range [...]*string{&c.username, &c.schemaname, &c.clientAddr, &c.proxyAddr} {
		*text, all = all[:len(*text)], all[len(*text):]
	}
	return c
}

func (k *classKey) length() int {
	return len(k.username) + len(k.schemaname) + len(k.clientAddr) + len(k.proxyAddr) + len(k.chosen.refusal)
}

// hash is no more than a place in the table: whoever finds equal ones only makes others be resolved more often.
func (k *classKey) hash() uint64 {
	h := mix((uint64(k.proxyPort)<<32|uint64(uint32(k.flagIn)))^k.chosen.hash(), k.username)
	h = mix(h, k.schemaname)
	h = mix(h, k.clientAddr)
	h = mix(h, k.proxyAddr)
	return h ^ h>>29
}

// mix takes in a text, eight bytes at a time.
func mix(h uint64, s string) uint64 {
	h ^= uint64(len(s))
	if len(s) < 8 {
		var rest uint64
		for i := range len(s) {
			rest = rest<<8 | uint64(s[i])
		}
		return mixWord(h, rest)
	}
	for ; len(s) > 8; s = s[min(8, len(s)-8):] { // the last word may overlap the one before
		h = mixWord(h, word(s))
	}
	return mixWord(h, word(s))
}

func mixWord(h, w uint64) uint64 {
	h = (h ^ w) * 0x9e3779b97f4a7c15
	return h ^ h>>32
}

func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
