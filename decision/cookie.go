package decision

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
)

// A cookie is a format byte, the generation, the guideline's route, 16 bytes of the class's hash, and a checksum of all
// that.
const (
	cookieFormat   = 2
	cookieHashSize = 16
	cookieSize     = 1 + 8 + 4 + cookieHashSize + 4
)

// appendCookie appends the cookie of a session class whose route may be None or Refused.
func appendCookie(dst []byte, generation uint64, route int32, class []byte) []byte {
	start := len(dst)
	dst = append(dst, cookieFormat)
	dst = binary.BigEndian.AppendUint64(dst, generation)
	dst = binary.BigEndian.AppendUint32(dst, uint32(route))
	hash := sha256.Sum256(class)
	dst = append(dst, hash[:cookieHashSize]...)
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[start:]))
}

// ParseCookie gives the generation that a cookie names and the session's route in that generation's guideline: Refused when
// none matched, None when there is nothing to keep. It is not ok for an unknown or broken cookie.
func ParseCookie(cookie []byte) (generation uint64, route int32, ok bool) {
	if len(cookie) != cookieSize || cookie[0] != cookieFormat {
		return 0, None, false
	}
	body, sum := cookie[:cookieSize-4], cookie[cookieSize-4:]
	if crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(sum) {
		return 0, None, false
	}
	return binary.BigEndian.Uint64(cookie[1:]), int32(binary.BigEndian.Uint32(cookie[9:])), true
}
