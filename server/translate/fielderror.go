package translate

import "fmt"

// FieldError says which field of a request is wrong.
type FieldError struct {
	// Field is the API's name of the field, e.g. "session.proxy_port".
	Field string
	// Message says what is wrong and what is wanted.
	Message string
}

// Error gives "field: message".
func (e *FieldError) Error() string { return e.Field + ": " + e.Message }

func fieldError(field, format string, args ...any) error {
	return &FieldError{Field: field, Message: fmt.Sprintf(format, args...)}
}
