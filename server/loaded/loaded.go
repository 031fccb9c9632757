package loaded

import (
	"crypto/sha256"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/decision"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	"github.com/pointsman/pointsman/server/translate"
)

// Generation is a generation in force. It is immutable.
type Generation struct {
	// Core decides.
	Core *decision.Generation
	// Number is the generation's.
	Number uint64
	// Digest is the SHA-256 of the stored form in hex.
	Digest string
	// Users holds the stored credentials of all users.
	Users Credentials
	// Gateway is what gateways are told.
	Gateway Gateway
	// Loading is how long it took to read and compile the stored form.
	Loading time.Duration
}

// ProblemsError says that a configuration does not compile.
type ProblemsError struct{ Problems decision.Problems }

// Error names the first problem and how many there are.
func (e *ProblemsError) Error() string {
	errors := 0
	first := ""
	for i := range e.Problems {
		if p := &e.Problems[i]; p.Severity == decision.Error {
			if errors == 0 {
				first = p.Path + ": " + p.Message
			}
			errors++
		}
	}
	if errors == 1 {
		return "the configuration has a problem: " + first
	}
	return fmt.Sprintf("the configuration has %d problems, the first one: %s", errors, first)
}

// Load compiles the stored form of a generation. Errors: translate.ErrFormat, *ProblemsError.
func Load(number uint64, digest string, format uint32, stored []byte) (*Generation, error) {
	start := time.Now()
	cfg, err := translate.Unmarshal(format, stored)
	if err != nil {
		return nil, fmt.Errorf("load generation %d: %w", number, err)
	}
	core, problems := decision.Compile(number, translate.ConfigFromProto(cfg))
	if problems.HasErrors() {
		return nil, fmt.Errorf("load generation %d: %w", number, &ProblemsError{Problems: problems})
	}
	g := &Generation{Core: core, Number: number, Digest: digest, Users: NewCredentials(cfg.GetUsers())}
	if g.Gateway, err = newGateway(core); err != nil {
		return nil, fmt.Errorf("load generation %d: %w", number, err)
	}
	g.Loading = time.Since(start)
	return g, nil
}

// Part is one part of what gateways are told.
type Part[M proto.Message] struct {
	// Message is the part itself; do not change it.
	Message M
	// Sum tells parts apart.
	Sum [sha256.Size]byte
}

func newPart[M proto.Message](m M) (Part[M], error) {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return Part[M]{}, fmt.Errorf("marshal %s: %w", m.ProtoReflect().Descriptor().Name(), err)
	}
	return Part[M]{Message: m, Sum: sha256.Sum256(b)}, nil
}

// Gateway is what gateways are told of a generation. Defaults are filled in, so that no reader has to know them.
type Gateway struct {
	// Users are the active ones with their authentication data.
	Users Part[*configv1.UserList]
	// Servers are the hostgroups' attributes and servers.
	Servers Part[*configv1.ServerList]
	// Settings have all defaults filled in.
	Settings Part[*configv1.Settings]
	// Guideline is the routing guideline in force, empty when none is.
	Guideline Part[*configv1.GuidelinePart]
}

func newGateway(core *decision.Generation) (g Gateway, err error) {
	all := translate.ConfigToProto(&decision.Config{
		Settings: core.Settings(), Hostgroups: core.Hostgroups(), Servers: core.Servers(), Users: core.Users(),
	})
	if g.Users, err = newPart(&configv1.UserList{Users: all.GetUsers()}); err != nil {
		return g, err
	}
	if g.Servers, err = newPart(&configv1.ServerList{Hostgroups: all.GetHostgroups(), Servers: all.GetServers()}); err != nil {
		return g, err
	}
	if g.Settings, err = newPart(all.GetSettings()); err != nil {
		return g, err
	}
	g.Guideline, err = newPart(translate.GuidelinePartToProto(core.Guide()))
	return g, err
}
