package ctl_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/pointsman/pointsman/decision"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	"github.com/pointsman/pointsman/server/api"
	"github.com/pointsman/pointsman/server/translate"
)

// configService keeps generations as a server does. It serves one call at a time.
type configService struct {
	configv1.UnimplementedConfigServiceServer
	generations []*configv1.Config
	rivals      int // so many publications find that somebody else came first
	notes       []string
	rejection   *configv1.Rejection
	core        *decision.Generation
}

func (s *configService) PublishConfig(_ context.Context, req *configv1.PublishConfigRequest) (*configv1.PublishConfigResponse, error) {
	if s.rivals > 0 {
		s.rivals--
		s.generations = append(s.generations, proto.CloneOf(s.generations[len(s.generations)-1]))
	}
	if want := uint64(len(s.generations)); req.ExpectedGeneration != nil && req.GetExpectedGeneration() != want {
		conflict, err := status.New(codes.FailedPrecondition, "conflict").WithDetails(&errdetails.ErrorInfo{Reason: api.ReasonGenerationConflict})
		if err != nil {
			return nil, err
		}
		return nil, conflict.Err()
	}
	core, found := decision.Compile(uint64(len(s.generations)+1), translate.ConfigFromProto(req.GetConfig()))
	problems := translate.ProblemsToProto(found)
	if core == nil {
		s.rejection = &configv1.Rejection{
			Author: req.GetAuthor(), Note: req.GetNote(), CreateTime: timestamppb.Now(),
			Problems: problems, ProblemCount: uint32(len(problems)),
		}
		refused, err := status.New(codes.InvalidArgument, "refused").WithDetails(&configv1.ConfigProblems{Problems: problems})
		if err != nil {
			return nil, err
		}
		return nil, refused.Err()
	}
	s.core, s.rejection = core, nil
	s.generations = append(s.generations, proto.CloneOf(req.GetConfig()))
	s.notes = append(s.notes, req.GetNote())
	return &configv1.PublishConfigResponse{Generation: core.Number(), Digest: "0123456789abcdef", Problems: problems}, nil
}

func (s *configService) GetConfig(context.Context, *configv1.GetConfigRequest) (*configv1.GetConfigResponse, error) {
	n := len(s.generations)
	if n == 0 {
		return nil, status.Error(codes.NotFound, "generation 0: no such generation")
	}
	return &configv1.GetConfigResponse{Generation: &configv1.Generation{Generation: uint64(n), Digest: "0123456789abcdef"}, Config: s.generations[n-1]}, nil
}

func (s *configService) GetConfigState(context.Context, *configv1.GetConfigStateRequest) (*configv1.GetConfigStateResponse, error) {
	n := uint64(len(s.generations))
	state := configv1.ConfigState_CONFIG_STATE_CURRENT
	switch {
	case s.rejection != nil && n == 0:
		state = configv1.ConfigState_CONFIG_STATE_INVALID
	case s.rejection != nil:
		state = configv1.ConfigState_CONFIG_STATE_STALE
	case n == 0:
		state = configv1.ConfigState_CONFIG_STATE_EMPTY
	}
	return &configv1.GetConfigStateResponse{State: state, RunningGeneration: n, NewestGeneration: n, Rejection: s.rejection}, nil
}

func (s *configService) GetGuideline(_ context.Context, req *configv1.GetGuidelineRequest) (*configv1.GetGuidelineResponse, error) {
	guide := s.core.Guide()
	if guide == nil {
		return &configv1.GetGuidelineResponse{Generation: s.core.Number()}, nil
	}
	known := &decision.Runtime{Servers: map[string]decision.ServerState{
		"db3:3306": {MemberRole: "PRIMARY"}, "db2:3306": {Unavailable: "connect: connection refused"},
	}}
	report := guide.NewPools(translate.RouterFromProto(req.GetRouter()), s.core.Hostgroups(), s.core.Servers(), known).Report()
	return translate.ReportToProto(guide, &report), nil
}

// serveConfig serves s and gives the address.
func serveConfig(t *testing.T, s configv1.ConfigServiceServer) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	configv1.RegisterConfigServiceServer(server, s)
	healths := health.NewServer()
	healths.SetServingStatus("pointsman.decision.v1.DecisionService", healthv1.HealthCheckResponse_SERVING)
	healthv1.RegisterHealthServer(server, healths)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

// broken gives a file with a document of that name that can't be compiled.
func broken(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "broken.json")
	text := `{"version":"1.1","name":"` + name + `","destinations":[{"name":"p","match":"$.server.port = 'x'"}],"routes":[]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestGuidelineLife stores, activates, breaks, mends and deactivates guidelines through a server.
func TestGuidelineLife(t *testing.T) {
	service := &configService{}
	addr := serveConfig(t, service)
	const canary = "testdata/guideline/canary.json"
	step := func(wantCode int, want string, args ...string) {
		t.Helper()
		code, out, errs := run(t, "", append(args, "--server", addr)...)
		if code != wantCode {
			t.Errorf("%q: code %d, want %d", args, code, wantCode)
		}
		for part := range strings.SplitSeq(want, "|") {
			if !strings.Contains(out+errs, part) {
				t.Errorf("%q: no %q in\n%s%s", args, part, out, errs)
			}
		}
	}
	guideline := func(wantCode int, want string, args ...string) {
		t.Helper()
		step(wantCode, want, append([]string{"guideline"}, args...)...)
	}
	guideline(1, "state      empty, nothing is published yet\nguideline  none is in force\n", "show")
	guideline(0, "nothing to do: nothing is published yet", "deactivate")
	guideline(1, "no_binding|state invalid, nothing is in force: the publication of 20|with 1 problem", "import", canary, "--activate")
	guideline(1, "state      invalid, nothing is in force|guideline_binding: a guideline is in force", "show")

	step(0, "published generation 1", "publish", file(t, split+"guideline_binding: {writer_hostgroup: 10, reader_hostgroup: 20}\n"))
	guideline(1, "state      current, generation 1\nguideline  none is in force", "show")
	guideline(1, `"guideline": null`, "show", "-o", "json")
	guideline(0, "published generation 2", "import", canary)
	if cfg := service.generations[1]; cfg.GetActiveGuideline() != "" || len(cfg.GetGuidelines()) != 1 || cfg.GetGuidelines()[0].GetName() != "canary" {
		t.Errorf("%v", cfg)
	}
	guideline(2, `there is no guideline "nobody"; stored are canary`, "activate", "nobody")
	guideline(0, "published generation 3", "activate", "canary")
	guideline(0, "nothing to do: generation 3 (0123456789ab) has it so already", "activate", "canary")
	guideline(0, "nothing to do: generation 3 (0123456789ab) has it so already", "import", canary)
	guideline(0, `"generation": "3"`, "import", canary, "--activate", "-o", "json")
	guideline(0, "state      current, generation 3\nstored     canary *\nguideline  canary (version 1.1)|db3:3306  PRIMARY    monitor|unavailable: connect: connection refused", "show")
	guideline(0, "db3:3306  PRIMARY    monitor|connect: connection refused", "preview", canary, "--resolve", "spare.example.com=10.0.0.1")

	// Under another name the document is renamed, too.
	guideline(0, "published generation 4", "import", canary, "--name", "second")
	if g := service.generations[3].GetGuidelines()[1]; g.GetName() != "second" || !strings.Contains(g.GetDocument(), `"name": "second"`) {
		t.Errorf("%v", g)
	}
	guideline(0, "stored     canary *, second\n           not in force; roles are the configured ones\nguideline  second", "show", "second")
	if active := service.generations[3].GetActiveGuideline(); active != "canary" {
		t.Errorf("%q is active", active)
	}

	// A broken one is refused at once; only one that would be in force makes the state stale.
	guideline(1, "destinations[0].match: type error|    ^~~~", "import", broken(t, "third"))
	if service.rejection != nil {
		t.Error("a guideline that is not in force was published")
	}
	guideline(1, "error: guidelines[0].document.destinations[0].match, byte 0: type error|    $.server.port = 'x'\n    ^~~~~|state stale, generation 4 stays in force|: oops was refused", "import", broken(t, "canary"), "--note", "oops")
	guideline(1, "state      stale, generation 4 stays in force|error: guidelines[0].document.destinations[0].match: type error|guideline  canary (version 1.1)", "show")
	guideline(0, "published generation 5", "import", canary) // changes nothing but the state
	guideline(0, "state      current, generation 5", "show")

	guideline(0, "published generation 6", "deactivate")
	guideline(0, "nothing to do: generation 6 (0123456789ab) has it so already", "deactivate")
	guideline(1, "stored     canary, second\nguideline  none is in force", "show")
	if last := service.notes[len(service.notes)-1]; last != "guideline deactivate" {
		t.Errorf("note %q", last)
	}

	// A document in the field guideline is stored when another one, or none, is to be in force.
	inline := file(t, split+"guideline_binding: {writer_hostgroup: 10, reader_hostgroup: 20}\nguideline: "+compact(t, canary)+"\n")
	step(0, "published generation 7", "publish", inline)
	guideline(0, "published generation 8", "deactivate")
	if cfg := service.generations[7]; cfg.GetGuideline() != "" || len(cfg.GetGuidelines()) != 1 || cfg.GetGuidelines()[0].GetName() != "canary" {
		t.Errorf("%v", cfg)
	}
}

// compact gives a JSON file on one line, as YAML takes it.
func compact(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\n", " ")
}

// TestGuidelineImportNames gives documents names of their own.
func TestGuidelineImportNames(t *testing.T) {
	const rest = `"version":"1.1","destinations":[{"name":"p","match":"TRUE"}],"routes":[{"name":"r","match":"TRUE","destinations":[{"classes":["p"],"strategy":"round-robin","priority":0}]}]}`
	for _, tt := range []struct {
		document, name string
		code           int
		want           string // the stored document, or a part of what is printed
	}{
		{`{"name":"a",` + rest, "", 0, `{"name":"a",` + rest},
		{`{"name":"a",` + rest, "b", 0, `{"name":"b",` + rest},
		{`{"name":"a",` + rest, "5b", 2, `flag --name: "5b" is no name for a guideline: use 1 to 63 letters`},
		{`{"name":"a",` + rest, strings.Repeat("b", 64), 2, "is no name for a guideline"},
		{`{"name":"a b (c)",` + rest, "", 0, `{"name":"a b (c)",` + rest},
		{`{"name":"` + strings.Repeat("b", 256) + `",` + rest, "", 2, "the document's name has 256 bytes, the limit is 255; give another one with --name"},
		{`{"name":"a\nb",` + rest, "", 2, "has control characters; give another one with --name"},
		{"\ufeff {" + rest, "b", 0, ` {"name":"b",` + rest},
		{`{` + rest, "", 2, "the document has no name of its own; give one with --name"},
		{`{"name":""` + "," + rest, "", 1, "name: field is expected to be a non empty string"},
		{`{"name":1,` + rest, "b", 1, "name: field is expected to be a string"},
		{`{}`, "b", 1, "no routes defined by the document"},
		{`[]`, "b", 1, "routing guidelines needs to be specified as a JSON document"},
		{`{"name":`, "", 1, "incorrect JSON: "},
		{`{"name":`, "b", 1, "incorrect JSON: "},
		{``, "b", 1, "incorrect JSON: "},
	} {
		service := &configService{}
		args := []string{"guideline", "import", "-", "--server", serveConfig(t, service)}
		if tt.name != "" {
			args = append(args, "--name", tt.name)
		}
		code, out, errs := run(t, tt.document, args...)
		if code != tt.code {
			t.Errorf("%s: code %d\n%s%s", tt.document, code, out, errs)
			continue
		}
		if code == 0 {
			if got := service.generations[0].GetGuidelines()[0].GetDocument(); got != tt.want {
				t.Errorf("%s: stored as %s", tt.document, got)
			}
		} else if !strings.Contains(out+errs, tt.want) || len(service.generations) > 0 {
			t.Errorf("%s: %s%s", tt.document, out, errs)
		}
	}
}

// TestGuidelineEditRace lets somebody else publish while a guideline is stored.
func TestGuidelineEditRace(t *testing.T) {
	for _, tt := range []struct {
		rivals, code int
		want         string
	}{
		{2, 0, "published generation 4"},
		{3, 2, "somebody else published meanwhile, 3 times; nothing was changed, run it again"},
	} {
		service := &configService{generations: []*configv1.Config{{}}, rivals: tt.rivals}
		code, out, errs := run(t, "", "guideline", "import", "testdata/guideline/canary.json", "--server", serveConfig(t, service))
		if code != tt.code || !strings.Contains(out+errs, tt.want) {
			t.Errorf("%d: code %d, %s%s", tt.rivals, code, out, errs)
		}
	}
}

// TestGuidelineOddNames wants names from the store on one line.
func TestGuidelineOddNames(t *testing.T) {
	service := &configService{generations: []*configv1.Config{{Guidelines: []*configv1.Guideline{{Name: "a\nb"}}}}}
	code, _, errs := run(t, "", "guideline", "activate", "nope", "--server", serveConfig(t, service))
	if want := `pointsmanctl: there is no guideline "nope"; stored are a\nb` + "\n"; code != 2 || errs != want {
		t.Errorf("code %d, %s", code, errs)
	}
	if code, _, errs := run(t, "", "guideline", "import", "testdata/guideline/canary.json", "--name", ""); code != 2 || !strings.Contains(errs, `"" is no name`) {
		t.Errorf("code %d, %s", code, errs)
	}
}
