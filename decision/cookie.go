package decision

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
)

// A cookie is a format byte, the generation, 16 bytes of the class's hash, and a checksum of all that.
const (
	cookieFormat   = 1
	cookieHashSize = 16
	cookieSize     = 1 + 8 + cookieHashSize + 4
)

// appendCookie appends the cookie of a session class.
func appendCookie(dst []byte, generation uint64, class []byte) []byte {
	start := len(dst)
	dst = append(dst, cookieFormat)
	dst = binary.BigEndian.AppendUint64(dst, generation)
	hash := sha256.Sum256(class)
	dst = append(dst, hash[:cookieHashSize]...)
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[start:]))
}

// CookieGeneration gives the generation that a cookie names; it is not ok for an unknown or broken cookie.
func CookieGeneration(cookie []byte) (n uint64, ok bool) {
	if len(cookie) != cookieSize || cookie[0] != cookieFormat {
		return 0, false
	}
	body, sum := cookie[:cookieSize-4], cookie[cookieSize-4:]
	if crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(sum) {
		return 0, false
	}
	return binary.BigEndian.Uint64(cookie[1:]), true
}
