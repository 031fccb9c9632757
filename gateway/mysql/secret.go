package mysql

import "crypto/sha256"

// Digest is the same for equal secrets, and tells nothing of them to who does not know them.
func (s Secret) Digest() [sha256.Size]byte {
	b := make([]byte, 0, 64)
	b = append(b, byte(s.kind))
	b = append(b, s.stage1[:]...)
	return sha256.Sum256(append(b, s.password...))
}
