package guideline

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// jsonKind is the kind of a JSON value.
type jsonKind uint8

const (
	jsonNull jsonKind = iota
	jsonBoolean
	jsonNumber
	jsonString
	jsonArray
	jsonObject
)

// jsonValue is one value as it stands in the document: members keep their order, also when a key is repeated, and numbers
// keep their text. encoding/json keeps neither, and mends bad UTF-8 and lone surrogates, which are errors here.
type jsonValue struct {
	kind     jsonKind
	key      string      // of a member
	text     string      // true or false, the number as written, the string without escapes
	children []jsonValue // elements or members
}

// jsonError is a fault in the document's JSON.
type jsonError struct {
	message string
	near    string // up to 15 characters on either side of the fault
}

// Error gives the text of section 2.1 of the specification.
func (e *jsonError) Error() string {
	return fmt.Sprintf("incorrect JSON: %s, near '%s'", e.message, e.near)
}

const byteOrderMark = "\ufeff"

// readJSON reads the one value of a document.
func readJSON(text string) (jsonValue, error) {
	s := jsonScanner{text: strings.TrimPrefix(text, byteOrderMark)}
	s.skipBlanks()
	if s.at == len(s.text) {
		return jsonValue{}, s.fail(s.at, "The document is empty")
	}
	v, err := s.value(0)
	if err != nil {
		return jsonValue{}, err
	}
	s.skipBlanks()
	if s.at < len(s.text) {
		return jsonValue{}, s.fail(s.at, "The document root must not be followed by other values")
	}
	return v, nil
}

// near gives the characters around a place. What is not UTF-8 shows as U+FFFD.
func near(text string, at int) string {
	const characters = 15
	start, end := at, at
	for range characters {
		_, size := utf8.DecodeLastRuneInString(text[:start])
		start -= size
		_, size = utf8.DecodeRuneInString(text[end:])
		end += size
	}
	return strings.ToValidUTF8(text[start:end], "\ufffd")
}
