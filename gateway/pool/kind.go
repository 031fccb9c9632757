package pool

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/pointsman/pointsman/gateway/mysql"
)

// Kind tells logins apart: connections of one kind to one server can stand in for each other once they are reset. It is a hash,
// since the user's secret is part of it.
type Kind [sha256.Size]byte

// ownAttrs are the connection attributes that tell one client's process from the other. They are no reason to log in anew.
var ownAttrs = []string{"_pid", "_thread", "_client_port", attrClient}

// attrClient is the attribute by which servers learn the client's address.
const attrClient = "_pointsman_client"

// Kind gives the kind of logins of this target, whatever its server.
func (t Target) Kind() Kind {
	b := make([]byte, 0, 512)
	text := func(s string) {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	text(t.User)
	secret := t.Secret.Digest()
	b = append(b, secret[:]...)
	b = binary.LittleEndian.AppendUint32(b, t.ClientFlags&mysql.MirroredCapabilities)
	b = append(b, t.charset())
	for _, name := range slices.Sorted(maps.Keys(t.Attrs)) {
		if !slices.Contains(ownAttrs, name) {
			text(name)
			text(t.Attrs[name])
		}
	}
	return sha256.Sum256(b)
}

// anonymous is the target without what tells of one client only.
func (t Target) anonymous() Target {
	t.Attrs = maps.Clone(t.Attrs)
	for _, name := range ownAttrs {
		delete(t.Attrs, name)
	}
	return t
}
