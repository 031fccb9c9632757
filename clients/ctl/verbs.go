package ctl

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// refuseUnknownVerbs makes a misspelt verb below root an error. cobra takes it for a wish for help, which succeeds. Root must
// have its streams, since its completion keeps them.
func refuseUnknownVerbs(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch {
		case cmd.Name() == "help":
			cmd.Args = knownTopic
		case cmd.HasSubCommands():
			cmd.Args = noVerb
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			cmd.DisableFlagsInUseLine = true
		}
	}
}

// noVerb refuses what is left when no verb of cmd was found.
func noVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2 // as cobra has it for the root
	hint := fmt.Sprintf("; \"%s --help\" lists them", cmd.CommandPath())
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), hint)
}

// knownTopic refuses help for a verb that there is not.
func knownTopic(cmd *cobra.Command, args []string) error {
	found, rest, err := cmd.Root().Find(args)
	if err == nil && found.HasSubCommands() {
		err = noVerb(found, rest)
	}
	return err
}
