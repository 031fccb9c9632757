package decision

import (
	"encoding/hex"
	"fmt"
	"strings"
)

const defaultUserMaxConnections = 10_000

func (c *compiler) users() {
	c.g.users = make([]User, 0, len(c.cfg.Users)) // byName points into it
	first := make(map[string]int, len(c.cfg.Users))
	for i := range c.cfg.Users {
		u := c.cfg.Users[i]
		at := row{list: "users", index: i, severity: Error}
		if u.Username == "" {
			c.reportf(at, "username", codeEmptyKey, "username is empty; give the MySQL user's name")
		} else if other, dup := first[u.Username]; dup {
			c.reportf(at, "username", codeDuplicateKey, "user %q is already at users[%d]; remove one of the two", u.Username, other)
			continue
		}
		first[u.Username] = i
		u.Active = filled(u.Active, true)
		if !*u.Active {
			at.severity = Warning
		}
		c.user(at, &u)
		if *u.Active {
			c.g.users = append(c.g.users, u)
			c.g.byName[u.Username] = &c.g.users[len(c.g.users)-1]
		}
	}
}

// user checks one user and fills its defaults.
func (c *compiler) user(at row, u *User) {
	c.password(at, u)
	if c.inRange(at, "default_hostgroup", int64(u.DefaultHostgroup), 0, maxInt32) {
		if !c.knows(u.DefaultHostgroup) {
			c.report(at, "default_hostgroup", whole, codeUnknownHostgroup, unknownHostgroup("default_hostgroup", u.DefaultHostgroup))
		}
	}
	u.TransactionPersistent = filled(u.TransactionPersistent, true)
	u.MaxConnections = filled(u.MaxConnections, defaultUserMaxConnections)
	if u.BackendUsername == "" {
		u.BackendUsername = u.Username
	}
}

// The forms of a password hash.
const (
	nativePrefix    = "*"
	nativeHexDigits = 40
	sha2Prefix      = "$A$"
	sha2Start       = "$A$005$"
	sha2Length      = len(sha2Start) + 20 + 43 // salt and hash
)

func (c *compiler) password(at row, u *User) {
	if u.Password == nil {
		c.warnf(at, "password", codeNoPassword,
			"user %q has no password, so it can't log in; give a clear text, \"*\" and 40 hex digits, or \"$A$005$...\" (empty for a user without one)", u.Username)
		return
	}
	switch password := *u.Password; {
	case strings.HasPrefix(password, sha2Prefix):
		if !strings.HasPrefix(password, sha2Start) || len(password) != sha2Length {
			c.reportf(at, "password", codeBadPasswordHash,
				"password of user %q starts like a caching_sha2_password hash, but isn't \"$A$005$\", 20 bytes of salt and 43 of hash; copy authentication_string from mysql.user whole", u.Username)
		}
		// The gateway logs in to servers by the clear text that a caching_sha2_password login shows it.
	case strings.HasPrefix(password, nativePrefix) && len(password) == len(nativePrefix)+nativeHexDigits:
		if _, err := hex.DecodeString(password[len(nativePrefix):]); err != nil {
			c.report(at, "password", whole, codeBadPasswordHash,
				fmt.Sprintf("password of user %q looks like a mysql_native_password hash, but what follows \"*\" are not 40 hex digits; copy authentication_string from mysql.user whole", u.Username))
			return
		}
		if u.BackendPassword == nil {
			c.warnf(at, "backend_password", codeBackendLogin,
				"user %q has a mysql_native_password hash alone: the gateway can log in to servers that know this user by mysql_native_password, but not to those that use caching_sha2_password; for these give backend_password in clear text", u.Username)
		}
	}
}
