package ctl

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	client "github.com/pointsman/pointsman/clients/go"
	"github.com/pointsman/pointsman/decision"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/translate"
)

func (a *app) selectServer() *cobra.Command {
	var (
		config    string
		hostgroup int32
		pool      string
		facts     routerFacts
		seed      uint64
		exclude   []string
		bulk      bool
	)
	cmd := &cobra.Command{
		Use:   "select",
		Short: "Draw a server of a hostgroup or of a guideline's pool",
		Long: "Draw a server of a hostgroup, or of a pool of the guideline in force: offline by a configuration file (--config),\n" +
			"else by the server. Exit status 1 when no server is eligible.\n\n" +
			"With --ndjson each input line is a SelectServerRequest and each output line a SelectServerResponse, both as\n" +
			"proto JSON with the proto's own field names. Lines with candidates need neither a file nor a server.",
		Args: cobra.NoArgs,
	}
	f := cmd.Flags()
	f.StringVar(&config, "config", "", "draw offline by this configuration file")
	f.Int32Var(&hostgroup, "hostgroup", 0, "the hostgroup")
	f.StringVar(&pool, "guideline-pool", "", "the guideline's pool, as route and explain name it, for example read:app")
	facts.flags(f)
	f.Uint64Var(&seed, "seed", 0, "the same seed gives the same server (a random one)")
	f.StringSliceVar(&exclude, "exclude", nil, "servers not to draw, host:port")
	f.BoolVar(&bulk, "ndjson", false, "one request a line on standard input, one answer a line on standard output")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		gen, err := a.offline(config)
		if err != nil {
			return err
		}
		if bulk {
			return a.selectLines(cmd.Context(), gen, cmd.Flags().Changed("server"))
		}
		if cmd.Flags().Changed("hostgroup") == cmd.Flags().Changed("guideline-pool") {
			return errors.New("exactly one of the flags --hostgroup and --guideline-pool is required (or use --ndjson)")
		}
		req := &decisionv1.SelectServerRequest{
			Target: &decisionv1.SelectServerRequest_Hostgroup{Hostgroup: hostgroup}, Exclude: exclude, Explain: true,
		}
		if cmd.Flags().Changed("guideline-pool") {
			req.Target = &decisionv1.SelectServerRequest_GuidelinePool{GuidelinePool: pool}
		}
		if req.Router, err = facts.message(); err != nil {
			return err
		}
		if cmd.Flags().Changed("seed") {
			req.Seed = &seed
		}
		var resp *decisionv1.SelectServerResponse
		if gen != nil {
			resp, err = selectOffline(gen, req)
		} else {
			err = a.call(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				resp, err = c.Decision().SelectServer(ctx, req)
				return err
			})
		}
		if err != nil {
			return err
		}
		return a.printSelect(resp)
	}
	return cmd
}

func (a *app) printSelect(resp *decisionv1.SelectServerResponse) error {
	switch a.output {
	case "json":
		if err := a.printProto(resp); err != nil {
			return err
		}
	default:
		if s := resp.GetServer(); s != nil {
			drawn := decision.Server{Hostname: s.GetHostname(), Port: new(s.GetPort())}
			fmt.Fprintln(a.io.Out, drawn.Address()) // as --exclude takes it
		} else {
			fmt.Fprintln(a.io.Out, "none is eligible")
		}
		for _, r := range resp.GetRejections() {
			fmt.Fprintf(a.io.Out, "not %s: %s\n", r.GetServer(), r.GetReason())
		}
	}
	if resp.GetIndex() < 0 {
		return errNo
	}
	return nil
}

// selectOffline draws by a compiled file; gen may be nil for candidates.
func selectOffline(gen *decision.Generation, req *decisionv1.SelectServerRequest) (*decisionv1.SelectServerResponse, error) {
	ask, candidates, err := translate.SelectFromProto(req)
	if err != nil {
		return nil, badLine("%v", err)
	}
	if req.Seed == nil {
		ask.Seed = rand.Uint64() //nolint:gosec // a draw of servers, no secret
	}
	var drawn decision.SelectResult
	switch {
	case candidates != nil:
		latency := uint32(translate.DefaultMaxLatencyMS)
		if gen != nil {
			latency = *gen.Settings().DefaultMaxLatencyMS
		}
		if drawn, err = decision.SelectCandidates(candidates, &ask, latency); err != nil {
			return nil, badLine("%v", err)
		}
	case gen == nil:
		return nil, badLine("hostgroup: give --config or --server, there is no configuration to draw from")
	case req.GetGuidelinePool() != "":
		if drawn, err = selectPool(gen, req, &ask); err != nil {
			return nil, err
		}
	default:
		drawn = gen.Select(&ask)
	}
	resp := translate.SelectToProto(&drawn)
	if gen != nil && candidates == nil {
		resp.Generation = gen.Number()
	}
	return resp, nil
}

// selectPool draws of a pool of the guideline in force, whose servers have the roles that the configuration says.
func selectPool(gen *decision.Generation, req *decisionv1.SelectServerRequest, ask *decision.SelectRequest) (decision.SelectResult, error) {
	guide := gen.Guide()
	if guide == nil {
		return decision.SelectResult{}, &lineError{codeName(codes.FailedPrecondition), "guideline_pool: no guideline is in force"}
	}
	pools := guide.NewPools(translate.RouterFromProto(req.GetRouter()), gen.Hostgroups(), gen.Servers(), nil)
	drawn, err := gen.SelectPool(pools, req.GetGuidelinePool(), ask)
	if err != nil {
		return drawn, &lineError{codeName(codes.NotFound), err.Error()}
	}
	return drawn, nil
}

// selectLines answers lines: by the file if there is one, by the server if one is named, and candidates by themselves.
func (a *app) selectLines(ctx context.Context, gen *decision.Generation, byServer bool) (err error) {
	draw := func(req *decisionv1.SelectServerRequest) (*decisionv1.SelectServerResponse, error) {
		return selectOffline(gen, req)
	}
	if byServer && gen == nil {
		c, err := a.dial()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.Close()) }()
		draw = func(req *decisionv1.SelectServerRequest) (*decisionv1.SelectServerResponse, error) {
			ctx, cancel := context.WithTimeout(ctx, a.timeout)
			defer cancel()
			resp, err := c.Decision().SelectServer(ctx, req)
			if st := status.Convert(err); st.Code() != codes.OK {
				return nil, &lineError{codeName(st.Code()), st.Message()}
			}
			return resp, nil
		}
	}
	return a.bulk(func(dst, line []byte) ([]byte, error) {
		req := &decisionv1.SelectServerRequest{}
		if err := readMessage(line, req); err != nil {
			return dst, err
		}
		resp, err := draw(req)
		if err != nil {
			return dst, err
		}
		return appendProto(dst, resp)
	})
}
