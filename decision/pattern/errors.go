package pattern

import (
	"errors"
	"fmt"
)

// ErrTooComplex says that an expression needed more steps or memory on a text than the engine grants.
var ErrTooComplex = errors.New("expression needs too many steps on this text")

// SyntaxError says what is wrong in an expression or a replacement, and how to mend it.
type SyntaxError struct {
	Pos int    // where, in bytes from the beginning of the expression or replacement
	Msg string // what, without the position
}

// Error gives the message with its position.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s (at byte %d)", e.Msg, e.Pos)
}

func syntaxErrorf(pos int, format string, args ...any) *SyntaxError {
	return &SyntaxError{Pos: pos, Msg: fmt.Sprintf(format, args...)}
}
