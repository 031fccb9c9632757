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

	client "github.com/pointsman/pointsman/clients/go"
	"github.com/pointsman/pointsman/decision"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/translate"
)

func (a *app) guidelineShow() *cobra.Command {
	var (
		config string
		router routerFacts
	)
	cmd := &cobra.Command{
		Use:   "show [NAME]",
		Short: "Show what a guideline makes of the servers",
		Long: "Show what the guideline in force makes of the servers: the state of the configuration, the routes and the live\n" +
			"members of their tiers, the classes, each server's role and weight, and notes on what is odd. Or what the stored\n" +
			"guideline NAME would make of them, by their configured roles. Offline by a configuration file (--config), else by the\n" +
			"server. Exit status 1 when no guideline is in force, or when the last publication was refused.",
		Args: cobra.MaximumNArgs(1),
	}
	cmd.Flags().StringVar(&config, "config", "", "show by this configuration file, without a server")
	router.flags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		asked, err := router.message()
		if err != nil {
			return err
		}
		name := strings.Join(args, "")
		if config != "" {
			cfg, err := a.loadConfig(config)
			if err != nil {
				return err
			}
			view := guidelineView{stored: cfg, other: name != "" && name != cfg.GetActiveGuideline()}
			if view.seen, err = a.seeOffline(cfg, name, asked); err != nil {
				return err
			}
			return a.printView(&view)
		}
		return a.call(cmd.Context(), func(ctx context.Context, c *client.Client) error {
			view, err := a.seeByServer(ctx, c, name, asked)
			if err != nil {
				return err
			}
			return a.printView(view)
		})
	}
	return cmd
}

// guidelineView is what guideline show prints.
type guidelineView struct {
	state  *configv1.GetConfigStateResponse // nil: offline
	seen   *configv1.GetGuidelineResponse
	other  bool             // seen is not the guideline in force
	stored *configv1.Config // the configuration that holds the stored guidelines; nil: there is none
}

func (a *app) seeByServer(ctx context.Context, c *client.Client, name string, router *decisionv1.Router) (*guidelineView, error) {
	var view guidelineView
	var err error
	if view.state, err = c.Config().GetConfigState(ctx, &configv1.GetConfigStateRequest{}); err != nil {
		return nil, err
	}
	if view.state.GetRunningGeneration() == 0 {
		return &view, nil
	}
	if view.seen, err = c.Config().GetGuideline(ctx, &configv1.GetGuidelineRequest{Router: router}); err != nil {
		return nil, err
	}
	current, err := c.Config().GetConfig(ctx, &configv1.GetConfigRequest{Generation: new(view.state.GetRunningGeneration())})
	switch {
	case err == nil:
	case name == "": // what is in force is known without the store
		fmt.Fprintf(a.io.Err, "the stored guidelines are not listed: %s\n", printableLines(message(err)))
		return &view, nil
	default:
		return nil, err
	}
	view.stored = current.GetConfig()
	if view.other = name != "" && name != view.stored.GetActiveGuideline(); view.other {
		if view.seen, err = a.seeOffline(view.stored, name, router); err != nil {
			return nil, err
		}
	}
	return &view, nil
}

// seeOffline tells what the guideline in force, or the stored one of that name, makes of a configuration's servers.
func (a *app) seeOffline(cfg *configv1.Config, name string, router *decisionv1.Router) (*configv1.GetGuidelineResponse, error) {
	if name != "" {
		cfg = proto.CloneOf(cfg)
		if err := setActive(cfg, name); err != nil {
			return nil, err
		}
	}
	gen, problems := decision.Compile(offlineGeneration, translate.ConfigFromProto(cfg))
	if problems.HasErrors() {
		writeProblems(a.io.Err, cfg, translate.ProblemsToProto(problems))
		return nil, errors.New("the configuration can't be compiled")
	}
	return see(gen, router, nil), nil
}

// see reports what the guideline in force makes of a generation's servers, by what is known of them.
func see(gen *decision.Generation, router *decisionv1.Router, known *decision.Runtime) *configv1.GetGuidelineResponse {
	out := &configv1.GetGuidelineResponse{}
	if guide := gen.Guide(); guide != nil {
		report := guide.NewPools(translate.RouterFromProto(router), gen.Hostgroups(), gen.Servers(), known).Report()
		out = translate.ReportToProto(guide, &report)
	}
	out.Generation = gen.Number()
	return out
}

func (a *app) printView(v *guidelineView) error {
	var err error
	if a.output == "json" {
		err = a.printViewJSON(v)
	} else {
		err = v.write(a.io.Out)
	}
	if err != nil {
		return err
	}
	if v.seen.GetVersion() == "" || v.state != nil && v.state.GetState() != configv1.ConfigState_CONFIG_STATE_CURRENT {
		return errNo
	}
	return nil
}

func (v *guidelineView) write(w io.Writer) error {
	if v.state != nil {
		fmt.Fprintf(w, "state      %s\n", stateLine(v.state))
		for _, p := range v.state.GetRejection().GetProblems() {
			fmt.Fprintf(w, "           %s: %s: %s [%s]\n", severity(p), printable(p.GetPath()), oneLine(p.GetMessage()), p.GetCode())
		}
	}
	if stored := v.stored.GetGuidelines(); len(stored) > 0 {
		texts := make([]string, len(stored))
		for i, g := range stored {
			texts[i] = oneLine(g.GetName())
			if g.GetName() == v.stored.GetActiveGuideline() {
				texts[i] += " *"
			}
		}
		fmt.Fprintf(w, "stored     %s\n", strings.Join(texts, ", "))
	}
	if v.seen.GetVersion() == "" {
		fmt.Fprintln(w, "guideline  none is in force")
		return nil
	}
	if v.other {
		fmt.Fprintln(w, "           not in force; roles are the configured ones")
	}
	return writeGuideline(w, v.seen)
}

// printViewJSON prints {"state", "guideline"}: the server's answers, null where there is none.
func (a *app) printViewJSON(v *guidelineView) error {
	doc := map[string]any{"state": nil, "guideline": nil}
	if v.state != nil {
		line, err := appendProto(nil, v.state)
		if err != nil {
			return err
		}
		doc["state"] = json.RawMessage(line)
	}
	if v.seen.GetVersion() != "" {
		line, err := appendProto(nil, v.seen)
		if err != nil {
			return err
		}
		doc["guideline"] = json.RawMessage(line)
	}
	return a.printJSON(doc)
}
