package store

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Errors that callers branch on, found with errors.Is.
var (
	// ErrNotFound means that the store has no such generation (never published, or collected).
	ErrNotFound = errors.New("no such generation")
	// ErrConflict means that another publication came first; the error is a *ConflictError.
	ErrConflict = errors.New("the store has moved on")
	// ErrOvertaken means that a publication that expects no generation gave up because others came first all the time.
	ErrOvertaken = errors.New("other publications came first all the time; try again")
	// ErrCorrupt means that stored data is damaged: a chunk or manifest is missing, unreadable or has another digest.
	ErrCorrupt = errors.New("stored data is damaged")
	// ErrTooLarge means that the content exceeds what one generation can hold.
	ErrTooLarge = errors.New("too large")
	// ErrNoSpace means that etcd has reached its quota and takes no writes.
	ErrNoSpace = errors.New("etcd has reached its space quota and takes no writes; " +
		"compact and defragment it and disarm the NOSPACE alarm (a restart does this for the embedded store)")
	// ErrPermission means that etcd refuses this client.
	ErrPermission = errors.New("etcd refuses access; the client certificate's user needs a role on the key prefix " +
		"(read for servers, read and write for publishers)")
	// ErrUnavailable means that etcd did not answer, or not in time.
	ErrUnavailable = errors.New("no answer from etcd")
	// ErrUnknownOutcome means that it could not be found out whether a publication took effect.
	ErrUnknownOutcome = errors.New("it is not known whether the publication took effect; list the generations to see")
	// ErrLayout means that the store was written by a newer release with another layout.
	ErrLayout = errors.New("the store has a newer layout than this release understands")
	// ErrWentBack is the alarm of a follower: head names an older generation than was seen before in the same store,
	// as after the restore of an old backup.
	ErrWentBack = errors.New("the store has gone back to an older generation")
	// ErrStoreChanged is the alarm of a follower: the store is another one than before (or was emptied).
	ErrStoreChanged = errors.New("the store is not the one followed before")
)

// ConflictError says which generation a publisher expected to replace and which one is in force.
type ConflictError struct {
	// Expected is the generation the publication was to follow.
	Expected uint64
	// Current is the generation in force.
	Current uint64
}

// Error names both generations.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("generation %d was expected, but generation %d is in force", e.Expected, e.Current)
}

// Is makes errors.Is(err, ErrConflict) true.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// explain puts an error of the etcd client into the words and types of this package.
func explain(op, key string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, rpctypes.ErrNoSpace):
		return fmt.Errorf("%s %s: %w", op, key, ErrNoSpace)
	case errors.Is(err, rpctypes.ErrRequestTooLarge):
		return fmt.Errorf("%s %s: %w for etcd, which needs --max-request-bytes=1572864 (its default) or more",
			op, key, ErrTooLarge)
	case errors.Is(err, rpctypes.ErrTooManyOps):
		return fmt.Errorf("%s %s: %w for etcd, which needs --max-txn-ops=128 (its default) or more",
			op, key, ErrTooLarge)
	}
	switch errorCode(err) {
	case codes.PermissionDenied, codes.Unauthenticated:
		return fmt.Errorf("%s %s: %w: %w", op, key, ErrPermission, err)
	case codes.Unavailable, codes.DeadlineExceeded:
		return fmt.Errorf("%s %s: %w: %w", op, key, ErrUnavailable, err)
	default:
		if errors.Is(err, rpctypes.ErrUserEmpty) || errors.Is(err, rpctypes.ErrAuthFailed) {
			return fmt.Errorf("%s %s: %w: %w", op, key, ErrPermission, err)
		}
		return fmt.Errorf("%s %s: %w", op, key, err)
	}
}

// refused reports whether etcd surely has not carried out the request that ended with err.
func refused(err error) bool {
	switch errorCode(err) {
	case codes.InvalidArgument, codes.NotFound, codes.PermissionDenied, codes.Unauthenticated,
		codes.ResourceExhausted, codes.FailedPrecondition, codes.OutOfRange, codes.Unimplemented:
		return true
	default:
		return false
	}
}

// errorCode finds the gRPC code of an error of the etcd client, which has three kinds: its own, gRPC's, and the bare
// error of a context.
func errorCode(err error) codes.Code {
	var own rpctypes.EtcdError
	switch {
	case errors.As(err, &own):
		return own.Code()
	case errors.Is(err, context.DeadlineExceeded):
		return codes.DeadlineExceeded
	case errors.Is(err, context.Canceled):
		return codes.Canceled
	default:
		return status.Code(err)
	}
}
