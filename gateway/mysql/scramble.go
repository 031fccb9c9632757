package mysql

import (
	"crypto/sha1" //nolint:gosec // The protocol of mysql_native_password is made of it.
	"crypto/sha256"
	"crypto/subtle"
)

// nativeScramble answers a challenge for mysql_native_password, given SHA1(password).
func nativeScramble(salt []byte, stage1 [sha1.Size]byte) []byte {
	stage2 := sha1.Sum(stage1[:])                                        //nolint:gosec // As above.
	mask := sha1.Sum(append(append([]byte(nil), salt...), stage2[:]...)) //nolint:gosec // As above.
	subtle.XORBytes(mask[:], mask[:], stage1[:])
	return mask[:]
}

// openNative checks an answer against SHA1(SHA1(password)) and yields SHA1(password), which the answer proves.
func openNative(salt, answer []byte, stage2 [sha1.Size]byte) (stage1 [sha1.Size]byte, ok bool) {
	if len(answer) != sha1.Size {
		return stage1, false
	}
	mask := sha1.Sum(append(append([]byte(nil), salt...), stage2[:]...)) //nolint:gosec // As above.
	subtle.XORBytes(stage1[:], mask[:], answer)
	check := sha1.Sum(stage1[:]) //nolint:gosec // As above.
	return stage1, subtle.ConstantTimeCompare(check[:], stage2[:]) == 1
}

// sha2Stage2 is SHA256(SHA256(password)), all that fast authentication by caching_sha2_password needs.
func sha2Stage2(password string) [sha256.Size]byte {
	stage1 := sha256.Sum256([]byte(password))
	return sha256.Sum256(stage1[:])
}

// checkSHA2 checks a caching_sha2_password answer against SHA256(SHA256(password)).
func checkSHA2(salt, answer []byte, stage2 [sha256.Size]byte) bool {
	if len(answer) != sha256.Size {
		return false
	}
	stage1 := sha256.Sum256(append(append([]byte(nil), stage2[:]...), salt...))
	subtle.XORBytes(stage1[:], stage1[:], answer)
	check := sha256.Sum256(stage1[:])
	return subtle.ConstantTimeCompare(check[:], stage2[:]) == 1
}
