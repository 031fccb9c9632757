package ctl

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/clients/document"
	client "github.com/pointsman/pointsman/clients/go"
	"github.com/pointsman/pointsman/decision/guideline"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

func (a *app) guidelineImport() *cobra.Command {
	var (
		h        history
		name     string
		activate bool
	)
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Store a guideline in the configuration, and publish it",
		Long: "Store a guideline in the configuration in force, or replace the one of its name, and publish that as the next\n" +
			"generation. With problems in it nothing changes: all of them are listed and the exit status is 1.",
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&name, "name", "", "the name to store it by, which becomes the document's own (the name in the document)")
	cmd.Flags().BoolVar(&activate, "activate", false, "put it in force, too")
	h.signature(cmd, a.io.Getenv)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("name") {
			if err := checkGivenName(name); err != nil {
				return fmt.Errorf("flag --name: %w", err)
			}
		}
		raw, err := a.readGuideline(args[0])
		if err != nil {
			return err
		}
		raw, name, err := named(raw, name)
		if err != nil {
			if _, problems := guideline.Compile(raw); len(problems) > 0 {
				return a.printGuidelineProblems(a.io.Out, raw, problems)
			}
			return fmt.Errorf("guideline %s: %w", args[0], err)
		}
		note := "guideline import " + name
		return a.editConfig(cmd.Context(), &h, note, func(cfg *configv1.Config) error {
			store(cfg, name, string(raw))
			if activate {
				if err := setActive(cfg, name); err != nil {
					return err
				}
			}
			if cfg.GetActiveGuideline() == name {
				return nil // the server checks it, and remembers that it was refused
			}
			if _, problems := guideline.Compile(raw); len(problems) > 0 {
				return a.printGuidelineProblems(a.io.Out, raw, problems)
			}
			return nil
		})
	}
	return cmd
}

func (a *app) guidelineActivate() *cobra.Command {
	var h history
	cmd := &cobra.Command{
		Use:   "activate NAME",
		Short: "Put a stored guideline in force",
		Long:  "Put a stored guideline in force in place of any other, and publish that as the next generation.",
		Args:  cobra.ExactArgs(1),
	}
	h.signature(cmd, a.io.Getenv)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return a.editConfig(cmd.Context(), &h, "guideline activate "+args[0], func(cfg *configv1.Config) error {
			return setActive(cfg, args[0])
		})
	}
	return cmd
}

func (a *app) guidelineDeactivate() *cobra.Command {
	var h history
	cmd := &cobra.Command{
		Use:   "deactivate",
		Short: "Put no guideline in force",
		Long:  "Put no guideline in force, and publish that as the next generation. The guideline stays stored.",
		Args:  cobra.NoArgs,
	}
	h.signature(cmd, a.io.Getenv)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return a.editConfig(cmd.Context(), &h, "guideline deactivate", func(cfg *configv1.Config) error {
			return setActive(cfg, "")
		})
	}
	return cmd
}

// editTries is how often a change is made anew because somebody else published meanwhile.
const editTries = 3

// editConfig publishes the newest configuration as edit leaves it, unless that changes nothing.
func (a *app) editConfig(ctx context.Context, h *history, note string, edit func(*configv1.Config) error) error {
	if h.note == "" {
		h.note = cut(note, maxOwnName)
	}
	return a.call(ctx, func(ctx context.Context, c *client.Client) error {
		for range editTries {
			if err := a.editOnce(ctx, c, h, edit); !isConflict(err) {
				return err
			}
		}
		return fmt.Errorf("somebody else published meanwhile, %d times; nothing was changed, run it again", editTries)
	})
}

func (a *app) editOnce(ctx context.Context, c *client.Client, h *history, edit func(*configv1.Config) error) error {
	current, err := c.Config().GetConfig(ctx, &configv1.GetConfigRequest{})
	if err != nil && status.Code(err) != codes.NotFound {
		return err
	}
	before := current.GetConfig()
	if before == nil {
		before = &configv1.Config{} // nothing is published yet
	}
	cfg := proto.CloneOf(before)
	if err := edit(cfg); err != nil {
		return err
	}
	if proto.Equal(cfg, before) {
		state, err := c.Config().GetConfigState(ctx, &configv1.GetConfigStateRequest{})
		if err != nil {
			return err
		}
		switch state.GetState() {
		case configv1.ConfigState_CONFIG_STATE_CURRENT, configv1.ConfigState_CONFIG_STATE_EMPTY:
			return a.printNothingToDo(current.GetGeneration())
		default: // publishing it again ends that state
		}
	}
	return a.publishConfig(ctx, c, &configv1.PublishConfigRequest{
		Config: cfg, ExpectedGeneration: new(current.GetGeneration().GetGeneration()), Author: h.author, Note: h.note,
	})
}

// printNothingToDo prints the generation that stays, in JSON as if it had been published now.
func (a *app) printNothingToDo(g *configv1.Generation) error {
	if a.output == "json" {
		return a.printPublished(g.GetGeneration(), g.GetDigest(), nil)
	}
	if g == nil {
		fmt.Fprintln(a.io.Out, "nothing to do: nothing is published yet")
	} else {
		fmt.Fprintf(a.io.Out, "nothing to do: generation %d (%s) has it so already\n", g.GetGeneration(), short(g.GetDigest()))
	}
	return nil
}

// isConflict tells whether a publication failed because another one came first.
func isConflict(err error) bool {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetReason() == "GENERATION_CONFLICT" {
			return true
		}
	}
	return false
}

// store adds a guideline or replaces the one of its name.
func store(cfg *configv1.Config, name, document string) {
	i := slices.IndexFunc(cfg.GetGuidelines(), func(g *configv1.Guideline) bool { return g.GetName() == name })
	if i >= 0 {
		cfg.Guidelines[i].Document = document
		return
	}
	cfg.Guidelines = append(cfg.Guidelines, &configv1.Guideline{Name: name, Document: document})
}

// setActive puts a stored guideline in force, none for an empty name. A document in the field guideline is stored instead.
func setActive(cfg *configv1.Config, name string) error {
	if inline := cfg.GetGuideline(); inline != "" {
		_, own, err := named([]byte(inline), "")
		if err != nil {
			return fmt.Errorf("the configuration's field guideline holds a document that can't be stored: %w; publish the configuration without it", err)
		}
		if own != name && slices.Contains(storedNames(cfg), own) {
			return fmt.Errorf("the configuration's field guideline holds a document named %q, and another one is stored by that name; publish the configuration without one of them", own)
		}
		if !slices.Contains(storedNames(cfg), own) {
			store(cfg, own, inline)
		}
		cfg.Guideline = ""
	}
	if names := storedNames(cfg); name != "" && !slices.Contains(names, name) {
		stored := "none is stored"
		if len(names) > 0 {
			stored = "stored are " + oneLine(strings.Join(names, ", "))
		}
		return fmt.Errorf("there is no guideline %q; %s", name, stored)
	}
	cfg.ActiveGuideline = name
	return nil
}

func storedNames(cfg *configv1.Config) []string {
	names := make([]string, len(cfg.GetGuidelines()))
	for i, g := range cfg.GetGuidelines() {
		names[i] = g.GetName()
	}
	return names
}

// named gives a document whose name member is name, and that name. With an empty name the document's own counts.
func named(raw []byte, name string) (doc []byte, own string, err error) {
	raw = []byte(strings.TrimPrefix(string(raw), "\ufeff")) // as the compiler does
	var found *string
	doc, err = document.Edit(raw, func(key string, value json.RawMessage) (json.RawMessage, error) {
		if key != "name" || value[0] != '"' {
			return value, nil
		}
		if name != "" {
			found = &name
			return json.Marshal(name)
		}
		return value, json.Unmarshal(value, &found)
	})
	switch {
	case err != nil && name != "":
		return raw, name, nil // whoever compiles it says what is wrong
	case found != nil && *found != "":
		return doc, *found, checkOwnName(*found)
	case name == "":
		return raw, "", checkOwnName("")
	}
	member, err := json.Marshal(name)
	if err != nil {
		return nil, "", err
	}
	begin := strings.IndexByte(string(doc), '{')
	if begin < 0 {
		return doc, name, nil // not an object, as the compiler will say
	}
	comma := ","
	if strings.HasPrefix(strings.TrimSpace(string(doc[begin+1:])), "}") {
		comma = ""
	}
	return slices.Concat(doc[:begin+1], []byte(`"name":`), member, []byte(comma), doc[begin+1:]), name, nil
}
