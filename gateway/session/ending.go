package session

import (
	"context"
	"errors"
	"io"
	"net"
	"os"

	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/pool"
)

// endError ends a session in order: the client was told what it has to know. Its text is the metrics' name of the cause.
type endError string

// Error gives the cause.
func (e endError) Error() string { return "session ends: " + string(e) }

// Why sessions end.
const (
	errQuit       endError = "quit"          // COM_QUIT
	errClosed     endError = "client_closed" // the client has hung up between two commands
	errClient     endError = "client_error"  // it has broken off, the protocol, or its patience
	errProbe      endError = "probe"         // it has said nothing at all
	errRefused    endError = "refused"       // at the login
	errIdle       endError = "idle"          // wait_timeout
	errKilled     endError = "killed"
	errAbandoned  endError = "abandoned" // the client went during a statement
	errDrained    endError = "drained"   // the gateway ends
	errCutOff     endError = "cut"       // likewise, without waiting any longer
	errServerLost endError = "server_lost"
	errClose      endError = "closed" // for a reason that the client was told
)

// causeOf finds why a session has ended.
func causeOf(ctx context.Context, phase string, err error) endError {
	if cause, ok := errors.AsType[endError](context.Cause(ctx)); ok {
		return cause // what broke then was broken by this
	}
	if cause, ok := errors.AsType[endError](err); ok {
		return cause
	}
	var side *mysql.SideError
	switch {
	case ctx.Err() != nil:
		return errCutOff
	case errors.As(err, &side) && side.Side == mysql.SideBackend:
		return errServerLost
	case errors.Is(err, mysql.ErrNoHandshake):
		return errProbe
	case phase == phaseLogin && kindOfError(err) == kindAuth:
		return errRefused
	case errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed):
		return errClosed
	}
	return errClient
}

// The phases of a session.
const (
	phaseLogin   = "login"
	phaseSession = "session"
)

// ended counts and logs how a session came to its end.
func (s *session) ended(ctx context.Context, phase string, err error) {
	cause := causeOf(ctx, phase, err)
	s.Metrics.disconnects.WithLabelValues(string(cause)).Inc()
	if _, told := errors.AsType[endError](err); told || cause != errClient && cause != errServerLost && cause != errRefused {
		return // as it should be, or counted where it was noticed
	}
	source, kind := mysql.SideClient, kindOfError(err)
	if cause == errServerLost {
		source = mysql.SideBackend
	}
	if phase == phaseLogin && (kind == kindNetwork || kind == kindProtocol) {
		kind = kindHandshake
	}
	s.Metrics.failed(source.String(), kind)
	s.log.Info(phase+" ended by an error", "source", source.String(), "client", s.remote.String(), "error", err) //nolint:sloglint // two fixed texts
}

// sideGateway is the source of errors that are the gateway's own.
const sideGateway = "gateway"

// Kinds of errors.
const (
	kindNetwork   = "network"
	kindHandshake = "handshake" // a login that was broken off
	kindAuth      = "auth"
	kindProtocol  = "protocol"
	kindCapacity  = "capacity"
	kindDecision  = "decision" // refused by the routing guideline, or by the lock on a hostgroup
	kindTimeout   = "timeout"
	kindKilled    = "killed"
	kindOther     = "other"
)

// kindOfError sorts an error for the metrics.
func kindOfError(err error) string {
	var told *mysql.Error
	var ne net.Error
	switch {
	case errors.As(err, &told):
		return kindOfCode(told.Code)
	case errors.Is(err, pool.ErrNeedsPassword), errors.Is(err, pool.ErrNoSecret), errors.Is(err, pool.ErrWantsClearText):
		return kindAuth
	case errors.Is(err, mysql.ErrMalformedPacket), errors.Is(err, mysql.ErrOutOfOrder), errors.Is(err, mysql.ErrPacketTooLarge),
		errors.Is(err, mysql.ErrUnsupported), errors.Is(err, pool.ErrIncompatible):
		return kindProtocol
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &ne) && ne.Timeout():
		return kindTimeout
	}
	return kindNetwork
}

// kindOfCode sorts an ERR packet's code.
func kindOfCode(code uint16) string {
	const connectionKilled, interrupted, idleTimeout, dbAccessDenied, hostDenied = 1927, 1317, 4031, 1044, 1130
	switch code {
	case mysql.CodeAccessDenied, mysql.CodeUnsupportedAuthMode, dbAccessDenied, hostDenied:
		return kindAuth
	case mysql.CodeTooManyConnections, codeUserLimit, codeUnreachable, codeStatementLimit, mysql.CodePacketTooLarge:
		return kindCapacity
	case mysql.CodeBadHandshake, mysql.CodePacketsOutOfOrder, mysql.CodeUnknownCommand:
		return kindProtocol
	case connectionKilled, interrupted, mysql.CodeServerShutdown:
		return kindKilled
	case codeQueryTimeout, idleTimeout:
		return kindTimeout
	case codeRuleError, codeLocked:
		return kindDecision
	case codeLostBackend:
		return kindNetwork
	}
	return kindOther
}
