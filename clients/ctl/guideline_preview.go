package ctl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/clients/facts"
	client "github.com/pointsman/pointsman/clients/go"
	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/guideline"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/translate"
)

func (a *app) guidelinePreview() *cobra.Command {
	var (
		config  string
		resolve []string
		ask     question
		bulk    bool
	)
	cmd := &cobra.Command{
		Use:   "preview [FILE]",
		Short: "Show what a guideline would do if it were in force",
		Long: "Show what a guideline would do if it were in force: its classes, tiers and notes, and with --user the way of a\n" +
			"session. Servers and binding are those of a configuration file (--config), else of the server, whose monitor then\n" +
			"says which role each server has. Nothing is published. Exit status 1 when the guideline has problems or refuses the\n" +
			"session.\n\n" +
			"With --ndjson each input line {\"guideline\", \"router\": {NAME: VALUE}, \"servers\": [{NAME: VALUE}], \"session\": {NAME:\n" +
			"VALUE}, \"resolve_cache\": {HOST: ADDRESS}} gives a line {\"classes\", \"route\", \"tiers\", \"errors\"}.",
		Args: cobra.MaximumNArgs(1),
	}
	f := cmd.Flags()
	f.StringVar(&config, "config", "", "take servers and binding from this configuration file")
	ask.sessionFlags(f)
	f.StringArrayVar(&resolve, "resolve", nil, "what RESOLVE_V4 and RESOLVE_V6 find, HOST=ADDRESS; repeat it for more")
	f.BoolVar(&bulk, "ndjson", false, "one JSON object a line on standard input, one on standard output")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if bulk {
			if len(args) > 0 {
				return errors.New("--ndjson reads guidelines from standard input, not from a file")
			}
			return a.bulk(previewLine)
		}
		if len(args) == 0 {
			return errors.New("no guideline given; name its file, or use --ndjson")
		}
		if err := ask.wantUser(); err != nil {
			return err
		}
		raw, err := a.readGuideline(args[0])
		if err != nil {
			return err
		}
		if _, problems := guideline.Compile(raw); len(problems) > 0 {
			return a.printGuidelineProblems(a.io.Out, raw, problems)
		}
		p := preview{document: string(raw)}
		if p.session, err = ask.session(); err != nil {
			return err
		}
		if p.runtime.Names, err = facts.ParseNames(resolve); err != nil {
			return fmt.Errorf("flag --resolve: %w", err)
		}
		if config != "" {
			p.config, err = a.loadConfig(config)
		} else {
			err = a.call(cmd.Context(), p.fetch)
		}
		if err != nil {
			return err
		}
		return a.printPreview(&p)
	}
	return cmd
}

// preview is a guideline and what it is tried on.
type preview struct {
	document string
	config   *configv1.Config
	session  *decisionv1.Session // without a username: none
	runtime  decision.Runtime
}

// fetch takes the configuration in force, and what is known of its servers at run time, from the server.
func (p *preview) fetch(ctx context.Context, c *client.Client) error {
	current, err := c.Config().GetConfig(ctx, &configv1.GetConfigRequest{})
	if err != nil {
		return err
	}
	p.config = current.GetConfig()
	live, err := c.Config().GetGuideline(ctx, &configv1.GetGuidelineRequest{Router: p.session.GetRouter()})
	if err != nil {
		return err
	}
	p.runtime.Servers = make(map[string]decision.ServerState)
	for _, s := range live.GetServers() {
		var state decision.ServerState
		if s.GetRoleSource() == "monitor" {
			state.MemberRole = s.GetMemberRole()
		}
		if why, found := strings.CutPrefix(s.GetUnavailable(), "unavailable: "); found {
			state.Unavailable = why
		}
		p.runtime.Servers[s.GetServer()] = state
	}
	return nil
}

// The statements that stand for all writes and all reads of a session.
const (
	someWrite = "DO 0"
	someRead  = "SELECT 0"
)

// compile makes a generation of the guideline with nothing else in it that decides: the session's user writes to the binding's
// writer hostgroup and reads from its reader hostgroup.
func (p *preview) compile() (*configv1.Config, *decision.Generation, decision.Problems) {
	cfg := &configv1.Config{
		Settings: p.config.GetSettings(), Hostgroups: p.config.GetHostgroups(), Servers: p.config.GetServers(),
		Guideline: p.document, GuidelineBinding: p.config.GetGuidelineBinding(),
	}
	if name := p.session.GetUsername(); name != "" {
		user := &configv1.User{Username: name}
		for _, u := range p.config.GetUsers() {
			if u.GetUsername() == name {
				user.DefaultSchema = u.DefaultSchema //nolint:protogetter // nil is absent
			}
		}
		user.Password, user.DefaultHostgroup = new(""), cfg.GetGuidelineBinding().GetWriterHostgroup()
		cfg.Users = append(cfg.Users, user)
		cfg.QueryRules = append(cfg.QueryRules, &configv1.QueryRule{
			RuleId: 1, MatchPattern: new("^SELECT"), DestinationHostgroup: new(int64(cfg.GetGuidelineBinding().GetReaderHostgroup())),
		})
	}
	gen, problems := decision.Compile(offlineGeneration, translate.ConfigFromProto(cfg))
	return cfg, gen, problems
}

func (a *app) printPreview(p *preview) error {
	cfg, gen, problems := p.compile()
	if problems.HasErrors() {
		return a.printProblems(cfg, translate.ProblemsToProto(problems))
	}
	out := previewed{servers: see(gen, p.session.GetRouter(), &p.runtime)}
	if p.session.GetUsername() != "" {
		for _, sql := range []string{someWrite, someRead} {
			x, err := p.explain(gen, sql)
			if err != nil {
				return err
			}
			out.statements = append(out.statements, x)
		}
	}
	var err error
	if a.output == "json" {
		err = a.printPreviewJSON(&out)
	} else {
		err = out.write(a.io.Out)
	}
	if err != nil {
		return err
	}
	for _, x := range out.statements {
		if x.GetAnswer().GetGuideline().GetRoute() == "" {
			return errNo
		}
	}
	return nil
}

func (p *preview) explain(gen *decision.Generation, sql string) (*decisionv1.ExplainStatementResponse, error) {
	r := router{gen: gen, names: p.runtime.Names}
	return r.explain(&decisionv1.RouteStatementRequest{
		Session: proto.CloneOf(p.session), Statement: &decisionv1.Statement{Body: &decisionv1.Statement_Text{Text: sql}, Command: decisionv1.Command_COMMAND_QUERY},
	})
}

// previewed is what a preview shows: the servers, and the way of a write and a read if there is a session.
type previewed struct {
	servers    *configv1.GetGuidelineResponse
	statements []*decisionv1.ExplainStatementResponse
}

func (v *previewed) write(w io.Writer) error {
	for i, x := range v.statements {
		if i == 0 {
			p := printer{}
			p.guideline(x.GetGuideline())
			if _, err := io.WriteString(w, p.out.String()+"\n"); err != nil {
				return err
			}
		}
		kind := []string{"writes", "reads"}[i]
		if choice := x.GetAnswer().GetGuideline(); choice.GetRoute() != "" {
			fmt.Fprintf(w, "%-10s %s\n", kind, choiceLine(choice))
		} else {
			fmt.Fprintf(w, "%-10s refused: %s\n", kind, oneLine(x.GetAnswer().GetErrorMsg()))
		}
	}
	if len(v.statements) > 0 {
		fmt.Fprintln(w)
	}
	return writeGuideline(w, v.servers)
}

// printPreviewJSON prints {"guideline", "write", "read"}: as GetGuideline answers, and RouteStatement to a write and a read.
func (a *app) printPreviewJSON(v *previewed) error {
	doc := map[string]any{"write": nil, "read": nil}
	line, err := appendProto(nil, v.servers)
	if err != nil {
		return err
	}
	doc["guideline"] = json.RawMessage(line)
	for i, x := range v.statements {
		if line, err = appendProto(nil, x.GetAnswer()); err != nil {
			return err
		}
		doc[[]string{"write", "read"}[i]] = json.RawMessage(line)
	}
	return a.printJSON(doc)
}
