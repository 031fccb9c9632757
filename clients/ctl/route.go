package ctl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	client "github.com/pointsman/pointsman/clients/go"
	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/guideline"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/translate"
)

// offlineGeneration is the number of a generation compiled from a file.
const offlineGeneration = 1

func (a *app) route() *cobra.Command {
	var (
		config string
		ask    question
		bulk   bool
	)
	cmd := &cobra.Command{
		Use:   "route [SQL]",
		Short: "Say where a statement goes and why",
		Long: "Say where a statement goes and why: offline by a configuration file (--config), else by the server.\n\n" +
			"With --ndjson each input line is a RouteStatementRequest and each output line a RouteStatementResponse,\n" +
			"both as proto JSON with the proto's own field names.",
	}
	f := cmd.Flags()
	f.StringVar(&config, "config", "", "decide offline by this configuration file")
	ask.flags(f)
	f.BoolVar(&bulk, "ndjson", false, "one request a line on standard input, one answer a line on standard output")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		gen, err := a.offline(config)
		if err != nil {
			return err
		}
		if bulk {
			if len(args) > 0 {
				return errors.New("--ndjson reads requests from standard input, not from arguments")
			}
			if gen != nil {
				return a.routeLines(gen)
			}
			return a.routeLinesByServer(cmd.Context())
		}
		if len(args) == 0 {
			return errors.New("no statement given; write it as an argument, or use --ndjson")
		}
		req, err := ask.request([]byte(strings.Join(args, " ")))
		if err != nil {
			return err
		}
		var resp *decisionv1.RouteStatementResponse
		if gen != nil {
			r := router{gen: gen}
			resp = &decisionv1.RouteStatementResponse{}
			err = r.route(req, resp)
		} else {
			err = a.call(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				resp, err = c.Decision().RouteStatement(ctx, req)
				return err
			})
		}
		if err != nil {
			return err
		}
		if a.output == "json" {
			return a.printProto(resp)
		}
		return a.printRoute(resp)
	}
	return cmd
}

// offline compiles the configuration at path; nil when path is empty.
func (a *app) offline(path string) (*decision.Generation, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // no path, no generation
	}
	cfg, err := a.loadConfig(path)
	if err != nil {
		return nil, err
	}
	gen, problems := decision.Compile(offlineGeneration, translate.ConfigFromProto(cfg))
	if problems.HasErrors() {
		writeProblems(a.io.Err, cfg, translate.ProblemsToProto(problems))
		return nil, fmt.Errorf("configuration %s can't be compiled", path)
	}
	return gen, nil
}

// router decides offline with buffers of its own.
type router struct {
	gen      *decision.Generation
	names    guideline.Names // of the hosts that a guideline resolves
	question decision.Question
	answer   decision.Answer
}

func (r *router) route(req *decisionv1.RouteStatementRequest, resp *decisionv1.RouteStatementResponse) error {
	if err := r.ask(req); err != nil {
		return err
	}
	if err := r.gen.Route(&r.question, &r.answer); err != nil {
		return badLine("%v", err)
	}
	translate.AnswerToProto(&r.answer, resp)
	resp.RequestId, resp.SessionAttributes = req.GetRequestId(), r.gen.SessionAttributes()
	return nil
}

// ask takes over a request.
func (r *router) ask(req *decisionv1.RouteStatementRequest) error {
	if err := translate.QuestionFromProto(req, &r.question); err != nil {
		return badLine("%v", err)
	}
	if req.GetMinGeneration() > offlineGeneration {
		return &lineError{codeName(codes.FailedPrecondition), fmt.Sprintf("min_generation %d is not reached: a configuration file is generation %d", req.GetMinGeneration(), offlineGeneration)}
	}
	if req.Seed == nil {
		r.question.Seed = rand.Uint64() //nolint:gosec // a draw between flags, no secret
	}
	if req.NowMs == nil {
		r.question.NowMS = time.Now().UnixMilli()
	}
	if req.GetSession().RandomValue == nil && r.gen.Recall(&r.question, req.GetCookie()) {
		r.question.Session.RandomValue = rand.Float64() //nolint:gosec // a draw between routes, no secret
	}
	r.question.Names = r.names
	return nil
}

func (a *app) routeLines(gen *decision.Generation) error {
	r := router{gen: gen}
	return a.bulk(func(dst, line []byte) ([]byte, error) {
		req, resp := &decisionv1.RouteStatementRequest{}, &decisionv1.RouteStatementResponse{}
		if err := readMessage(line, req); err != nil {
			return dst, err
		}
		if err := r.route(req, resp); err != nil {
			return dst, err
		}
		return appendProto(dst, resp)
	})
}

// pipelineDepth is how many requests are in flight to a server.
const pipelineDepth = 256

// slot is one input line on its way through the stream.
type slot struct {
	id   uint64 // the caller's request_id
	resp *decisionv1.RouteStatementResponse
	err  error
	done chan struct{}
}

// routeLinesByServer sends lines over one stream, many in flight, and prints the answers in the lines' order.
func (a *app) routeLinesByServer(ctx context.Context) error {
	c, err := a.dial()
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // nothing is lost with it
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		_ = c.Run(ctx) // ends with ctx, without an error
	}()
	defer func() { cancel(); <-stopped }()
	if err := c.WaitConnected(ctx, a.timeout); err != nil {
		return fmt.Errorf("connect to %s: %w", a.server, err)
	}

	slots := make(chan *slot, pipelineDepth)
	failed := make(chan error, 1)
	go func() { failed <- a.readRouteLines(ctx, c, slots) }()
	bad, err := a.writeRouteLines(slots)
	if err != nil {
		cancel()
		for range slots {
		}
	}
	if err := errors.Join(err, <-failed); err != nil {
		return err
	}
	if bad {
		return errNo
	}
	return nil
}

func (a *app) readRouteLines(ctx context.Context, c *client.Client, slots chan<- *slot) error {
	defer close(slots)
	in := newLineReader(a.io.In)
	for {
		line, err := in.next()
		var le *lineError
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !errors.As(err, &le) {
			return err
		}
		s := &slot{err: err, done: make(chan struct{})}
		req := &decisionv1.RouteStatementRequest{}
		if err == nil {
			s.err = readMessage(line, req)
		}
		select {
		case slots <- s: // bounds what is in flight
		case <-ctx.Done():
			return ctx.Err()
		}
		if s.err != nil {
			close(s.done)
			continue
		}
		s.id = req.GetRequestId()
		go func() {
			defer close(s.done)
			ctx, cancel := context.WithTimeout(ctx, a.timeout)
			defer cancel()
			s.resp, s.err = c.Route(ctx, req)
		}()
	}
}

func (a *app) writeRouteLines(slots <-chan *slot) (bad bool, err error) {
	out := bufio.NewWriterSize(a.io.Out, 1<<16)
	var dst []byte
	n := 0
	for s := range slots {
		n++
		select {
		case <-s.done:
		default: // nothing to print now: show what there is
			if err := out.Flush(); err != nil {
				return bad, fmt.Errorf("write output: %w", err)
			}
			<-s.done
		}
		switch s.err {
		case nil:
			s.resp.RequestId = s.id
			dst, err = appendProto(dst[:0], s.resp)
			if err != nil {
				return bad, err
			}
		default:
			bad = true
			var le *lineError
			if !errors.As(s.err, &le) {
				st := status.Convert(s.err)
				le = &lineError{codeName(st.Code()), st.Message()}
				if client.IsUnavailable(s.err) {
					le = &lineError{codeName(codes.Unavailable), s.err.Error()}
				}
			}
			dst = appendLineError(dst[:0], n, le)
		}
		if _, err := out.Write(append(dst, '\n')); err != nil {
			return bad, fmt.Errorf("write output: %w", err)
		}
		if len(slots) == 0 {
			if err := out.Flush(); err != nil {
				return bad, fmt.Errorf("write output: %w", err)
			}
		}
	}
	if err := out.Flush(); err != nil {
		return bad, fmt.Errorf("write output: %w", err)
	}
	return bad, nil
}

// printRoute prints an answer for people: the destination and why, then what else the caller must do.
func (a *app) printRoute(r *decisionv1.RouteStatementResponse) error {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-20s %s\n", name, fmt.Sprintf(format, args...))
	}
	switch {
	case r.DestinationHostgroup != nil:
		row("hostgroup", "%d", r.GetDestinationHostgroup())
	case r.GetReason() == decisionv1.Reason_REASON_GUIDELINE:
		row("hostgroup", "none: the routing guideline refuses the statement")
	default:
		row("hostgroup", "none: the statement is answered with a message")
	}
	row("reason", "%s", strings.ToLower(strings.TrimPrefix(r.GetReason().String(), "REASON_")))
	if choice := r.GetGuideline(); choice.GetRoute() != "" {
		row("guideline", "%s", choiceLine(choice))
	}
	rules := "none"
	if len(r.GetMatchedRules()) > 0 {
		rules = strings.Trim(fmt.Sprint(r.GetMatchedRules()), "[]")
	}
	row("matched rules", "%s", rules)
	row("final flag", "%d", r.GetFinalFlagIn())
	if r.GetDigest() != "" {
		row("digest", "%s  %s", r.GetDigest(), printable(r.GetDigestText()))
	}
	row("generation", "%d", r.GetGeneration())
	row("reusable for", "%s", strings.ToLower(strings.TrimPrefix(r.GetCacheScope().String(), "CACHE_SCOPE_")))
	effects(r, row)
	_, err := io.WriteString(a.io.Out, b.String())
	return err
}

// choiceLine tells what a guideline says: route, mode and pools.
func choiceLine(c *decisionv1.GuidelineChoice) string {
	pools := make([]string, len(c.GetPools()))
	for i, pool := range c.GetPools() {
		pools[i] = oneLine(pool)
	}
	mode := strings.ToLower(strings.TrimPrefix(c.GetMode().String(), "GUIDELINE_MODE_"))
	return fmt.Sprintf("route %s of %s, mode %s, pools %s", value(c.GetRoute()), value(c.GetGuideline()), mode, strings.Join(pools, ", then "))
}

// effects prints the effects that are set, in the order of the message's fields.
func effects(r *decisionv1.RouteStatementResponse, row func(name, format string, args ...any)) {
	m := r.ProtoReflect()
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if f.Number() < 16 || !f.HasPresence() || !m.Has(f) || f.Message() != nil {
			continue // not an effect, or not set
		}
		row(string(f.Name()), "%s", printable(fmt.Sprint(m.Get(f).Interface())))
	}
	if r.GetMirror() != nil {
		row("mirror", "hostgroup %d, rules %v", r.GetMirror().GetDestinationHostgroup(), r.GetMirror().GetMatchedRules())
	}
}
