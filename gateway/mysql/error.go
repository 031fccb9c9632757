package mysql

import (
	"errors"
	"fmt"
)

// Error codes of ERR packets that the gateway itself makes.
const (
	CodeTooManyConnections  uint16 = 1040 // 08004
	CodeBadHandshake        uint16 = 1043 // 08S01
	CodeAccessDenied        uint16 = 1045 // 28000
	CodeUnknownCommand      uint16 = 1047 // 08S01
	CodeServerShutdown      uint16 = 1053 // 08S01
	CodeHostBlocked         uint16 = 1129 // HY000
	CodePacketTooLarge      uint16 = 1153 // 08S01
	CodePacketsOutOfOrder   uint16 = 1156 // 08S01
	CodeUnknownStatement    uint16 = 1243 // HY000
	CodeUnsupportedAuthMode uint16 = 1251 // 08004

	CodeSecureTransportRequired uint16 = 3159 // HY000
)

// ErrMalformedPacket says that a packet breaks the protocol.
var ErrMalformedPacket = errors.New("malformed packet")

// ErrPacketTooLarge says that a packet is larger than is allowed at its place.
var ErrPacketTooLarge = errors.New("packet too large")

// ErrOutOfOrder says that a packet's sequence number is not the expected one.
var ErrOutOfOrder = errors.New("packets out of order")

// ErrNoHandshake says that a client left before it answered the greeting, as TCP health probes do.
var ErrNoHandshake = errors.New("client left before its handshake response")

// ErrUnsupported says that a command can't be relayed. Nothing was sent to anybody.
var ErrUnsupported = errors.New("unsupported command")

// Error is the content of an ERR packet.
type Error struct {
	Code    uint16
	State   string // SQLSTATE, 5 characters; empty when the server sent none.
	Message string
}

// Error gives code, SQLSTATE and text.
func (e *Error) Error() string {
	if e.State == "" {
		return fmt.Sprintf("error %d: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("error %d (%s): %s", e.Code, e.State, e.Message)
}

// NewError returns an Error with a formatted text.
func NewError(code uint16, state, format string, args ...any) *Error {
	return &Error{Code: code, State: state, Message: fmt.Sprintf(format, args...)}
}

// Side names one end of a relayed session.
type Side int

// The two sides of a session.
const (
	SideClient  Side = iota // The application.
	SideBackend             // The MySQL server.
)

// String returns client or backend.
func (s Side) String() string {
	if s == SideClient {
		return "client"
	}
	return "backend"
}

// SideError is an I/O or protocol error that says whose connection is unusable from now on. Err is an [*Error] when a
// backend closed the connection with a message that belongs to no command.
type SideError struct {
	Side Side
	Op   string // read or write.
	Err  error
}

// Error gives side, operation and cause.
func (e *SideError) Error() string { return e.Side.String() + " " + e.Op + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *SideError) Unwrap() error { return e.Err }
