package ctl

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// shellName is what MySQL Shell takes as a guideline's name.
var shellName = regexp.MustCompile(`^[A-Za-z_.-][A-Za-z0-9_.-]{0,62}$`)

// checkGivenName tells why a name that a user gives is none.
func checkGivenName(name string) error {
	if shellName.MatchString(name) {
		return nil
	}
	return fmt.Errorf("%q is no name for a guideline: use 1 to 63 letters, digits, _, - and ., not beginning with a digit", cut(name, 80))
}

// maxOwnName is the most bytes of a document's own name that it is stored by.
const maxOwnName = 255

// checkOwnName tells why a document can't be stored by its own name. MySQL Router takes any name, lists don't.
func checkOwnName(name string) error {
	switch {
	case name == "":
		return errors.New("the document has no name of its own; give one with --name")
	case len(name) > maxOwnName:
		return fmt.Errorf("the document's name has %d bytes, the limit is %d; give another one with --name", len(name), maxOwnName)
	case strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("the document's name %q has control characters; give another one with --name", name)
	}
	return nil
}
