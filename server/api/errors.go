package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strconv"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"

	"github.com/pointsman/pointsman/decision"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	"github.com/pointsman/pointsman/server/loaded"
	"github.com/pointsman/pointsman/server/translate"
	"github.com/pointsman/pointsman/store"
)

// Errors travel in HTTP/2 trailers, which many clients refuse above 8 KiB.
const (
	maxMessageBytes  = 1 << 10
	maxProblemsBytes = 4 << 10
)

// Domain is the domain of every google.rpc.ErrorInfo.
const Domain = "pointsman"

// The reasons in google.rpc.ErrorInfo. docs/errors.md says what each means and what to do.
const (
	ReasonInvalidField         = "INVALID_FIELD"
	ReasonInvalidConfig        = "INVALID_CONFIG"
	ReasonNoGeneration         = "NO_GENERATION"
	ReasonGenerationNotReached = "GENERATION_NOT_REACHED"
	ReasonGenerationConflict   = "GENERATION_CONFLICT"
	ReasonPublishOvertaken     = "PUBLISH_OVERTAKEN"
	ReasonGenerationNotFound   = "GENERATION_NOT_FOUND"
	ReasonGenerationRefused    = "GENERATION_REFUSED"
	ReasonPasswordsUnreadable  = "PASSWORDS_UNREADABLE"
	ReasonConfigTooLarge       = "CONFIG_TOO_LARGE"
	ReasonStoreUnavailable     = "STORE_UNAVAILABLE"
	ReasonStoreFull            = "STORE_FULL"
	ReasonStoreRefusesAccess   = "STORE_REFUSES_ACCESS"
	ReasonStoreDamaged         = "STORE_DAMAGED"
	ReasonStoreNewer           = "STORE_NEWER"
	ReasonOutcomeUnknown       = "OUTCOME_UNKNOWN"
	ReasonServerStopping       = "SERVER_STOPPING"
	ReasonNoGuideline          = "NO_GUIDELINE"
	ReasonPoolNotFound         = "POOL_NOT_FOUND"
	ReasonServerBusy           = "SERVER_BUSY"
	ReasonInternal             = "INTERNAL"
)

var (
	errNoGeneration = errors.New("no configuration is loaded yet: publish one, or wait until the store can be read")
	errRejected     = errors.New("the newest generation was rejected and none is in force: publish a valid configuration; the server's log has the cause")
	errNoGuideline  = errors.New("no routing guideline is in force, so there are no guideline pools: publish a configuration with guideline and guideline_binding, or draw from a hostgroup")
	errStopping     = errors.New("the server is stopping; ask another one")
	errPasswords    = errors.New("the passwords of the newest generation can't be read, so every user that the running generation does not know needs one in this configuration")
)

// notReachedError says that min_generation was not reached in time.
type notReachedError struct{ min, current uint64 }

func (e *notReachedError) Error() string {
	return fmt.Sprintf("min_generation %d is not reached, this server runs generation %d", e.min, e.current)
}

// refusedError says that a stored generation can't be brought back.
type refusedError struct {
	generation uint64
	cause      error
}

func (e *refusedError) Error() string {
	return fmt.Sprintf("generation %d can't be brought back by this release: %v", e.generation, e.cause)
}

func (e *refusedError) Unwrap() error { return e.cause }

// busyError says that too many bytes of large statements wait already.
type busyError struct {
	limit int64 // bytes
	user  bool  // of this user, not of all
}

func (e *busyError) Error() string {
	whose := "large statements"
	if e.user {
		whose = "large statements of this user"
	}
	return fmt.Sprintf("%s wait for their decision already, with %d MiB as the limit: send fewer at a time, or ask another server", whose, e.limit>>20)
}

// panicError stands for a bug.
type panicError struct{}

func (panicError) Error() string { return "internal error; the server's log has the details" }

// Recovered logs the panic of a handler and gives the error for its caller.
func Recovered(ctx context.Context, log *slog.Logger, p any) error {
	logPanic(ctx, log, p)
	return toStatus(panicError{})
}

func logPanic(ctx context.Context, log *slog.Logger, p any) {
	log.ErrorContext(ctx, "bug: a call panicked", "panic", p, "stack", string(debug.Stack()))
}

// description is how an error looks to callers.
type description struct {
	code     codes.Code
	reason   string
	message  string
	metadata map[string]string
	detail   protoadapt.MessageV1
}

// toStatus gives the gRPC form of an error of this package, the core or the store. This is the one place that does.
func toStatus(err error) error {
	if err == nil {
		return nil
	}
	return convert(err).Err()
}

// statusProto is toStatus for answers that carry the error of one request.
func statusProto(err error) *rpcstatus.Status { return convert(err).Proto() }

// reasonOf gives the reason of an error, as in its ErrorInfo.
func reasonOf(err error) string { return describe(err).reason }

func convert(err error) *status.Status {
	switch {
	case errors.Is(err, context.Canceled):
		return status.New(codes.Canceled, "the caller has gone")
	case errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, store.ErrUnavailable):
		return status.New(codes.DeadlineExceeded, "the caller's deadline has passed")
	}
	d := describe(err)
	for k, v := range d.metadata {
		d.metadata[k] = valid(v)
	}
	st := status.New(d.code, shorten(d.message))
	details := []protoadapt.MessageV1{&errdetails.ErrorInfo{Reason: d.reason, Domain: Domain, Metadata: d.metadata}}
	if d.detail != nil {
		details = append(details, d.detail)
	}
	full, err := st.WithDetails(details...)
	if err != nil { // no known message fails; the code and the text are still right
		return st
	}
	return full
}

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// shorten cuts a text that quotes too much of what the caller sent.
func shorten(s string) string {
	if len(s) > maxMessageBytes {
		s = strings.ToValidUTF8(s[:maxMessageBytes], "") + "..."
	}
	return valid(s)
}

func describe(err error) description {
	var (
		field      *translate.FieldError
		question   *decision.QuestionError
		problems   *loaded.ProblemsError
		notReached *notReachedError
		refused    *refusedError
		conflict   *store.ConflictError
		busy       *busyError
		panicked   panicError
		pool       *decision.UnknownPoolError
	)
	d := description{message: err.Error()}
	switch {
	case errors.As(err, &field):
		d.code, d.reason, d.metadata = codes.InvalidArgument, ReasonInvalidField, map[string]string{"field": field.Field}
	case errors.As(err, &question):
		d.code, d.reason, d.metadata = codes.InvalidArgument, ReasonInvalidField, map[string]string{"field": question.Field}
	case errors.As(err, &refused):
		d.code, d.reason = codes.FailedPrecondition, ReasonGenerationRefused
		d.metadata = map[string]string{"generation": number(refused.generation)}
		if errors.As(err, &problems) {
			d.problems(problems.Problems)
		}
	case errors.As(err, &problems):
		d.code, d.reason = codes.InvalidArgument, ReasonInvalidConfig
		d.problems(problems.Problems)
	case errors.As(err, &notReached):
		d.code, d.reason = codes.FailedPrecondition, ReasonGenerationNotReached
		d.metadata = map[string]string{"min_generation": number(notReached.min), "current_generation": number(notReached.current)}
	case errors.As(err, &conflict):
		d.code, d.reason = codes.FailedPrecondition, ReasonGenerationConflict
		d.metadata = map[string]string{"expected_generation": number(conflict.Expected), "current_generation": number(conflict.Current)}
	case errors.Is(err, store.ErrOvertaken):
		d.code, d.reason = codes.Aborted, ReasonPublishOvertaken
	case errors.Is(err, errNoGeneration), errors.Is(err, errRejected):
		d.code, d.reason = codes.Unavailable, ReasonNoGeneration
	case errors.Is(err, errStopping):
		d.code, d.reason = codes.Unavailable, ReasonServerStopping
	case errors.As(err, &busy):
		d.code, d.reason, d.metadata = codes.ResourceExhausted, ReasonServerBusy, map[string]string{"limit_bytes": strconv.FormatInt(busy.limit, 10)}
	case errors.Is(err, errPasswords):
		d.code, d.reason = codes.FailedPrecondition, ReasonPasswordsUnreadable
	case errors.Is(err, errNoGuideline):
		d.code, d.reason = codes.FailedPrecondition, ReasonNoGuideline
	case errors.As(err, &pool):
		d.code, d.reason, d.metadata = codes.NotFound, ReasonPoolNotFound, map[string]string{"guideline_pool": pool.Pool}
	case errors.As(err, &panicked):
		d.code, d.reason = codes.Internal, ReasonInternal
	default:
		describeStore(err, &d)
	}
	return d
}

func describeStore(err error, d *description) {
	switch {
	// Not knowing comes first: it wraps the error that led to it.
	case errors.Is(err, store.ErrUnknownOutcome):
		d.code, d.reason = codes.Unknown, ReasonOutcomeUnknown
	case errors.Is(err, store.ErrNotFound):
		d.code, d.reason = codes.NotFound, ReasonGenerationNotFound
	case errors.Is(err, store.ErrTooLarge):
		d.code, d.reason = codes.InvalidArgument, ReasonConfigTooLarge
	case errors.Is(err, store.ErrNoSpace):
		d.code, d.reason = codes.ResourceExhausted, ReasonStoreFull
	case errors.Is(err, store.ErrPermission):
		d.code, d.reason = codes.FailedPrecondition, ReasonStoreRefusesAccess
	case errors.Is(err, store.ErrCorrupt):
		d.code, d.reason = codes.DataLoss, ReasonStoreDamaged
	case errors.Is(err, store.ErrLayout), errors.Is(err, translate.ErrFormat):
		d.code, d.reason = codes.FailedPrecondition, ReasonStoreNewer
	case errors.Is(err, store.ErrUnavailable):
		d.code, d.reason = codes.Unavailable, ReasonStoreUnavailable
		d.message = "the store can't be reached, so configurations can neither be read nor published; decisions go on: " + err.Error()
	default:
		d.code, d.reason = codes.Internal, ReasonInternal
	}
}

// problems adds the problems that there is room for, at least one.
func (d *description) problems(problems decision.Problems) {
	all := translate.ProblemsToProto(problems)
	size, n := 0, 0
	for n < len(all) && (n == 0 || size+proto.Size(all[n]) <= maxProblemsBytes) {
		size += proto.Size(all[n])
		n++
	}
	if n < len(all) {
		d.message += fmt.Sprintf(" (the details list %d of %d; ValidateConfig lists all)", n, len(all))
	}
	if d.metadata == nil {
		d.metadata = make(map[string]string)
	}
	d.metadata["problem_count"] = strconv.Itoa(errorCount(problems))
	d.detail = &configv1.ConfigProblems{Problems: all[:n]}
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }

func badField(field, format string, args ...any) error {
	return &translate.FieldError{Field: field, Message: fmt.Sprintf(format, args...)}
}
