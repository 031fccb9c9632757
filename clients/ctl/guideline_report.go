package ctl

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// writeGuideline prints how a guideline sees the servers: its routes with their tiers, its classes, all servers, notes.
func writeGuideline(w io.Writer, g *configv1.GetGuidelineResponse) error {
	fmt.Fprintf(w, "guideline  %s\n", guidelineName(g))
	fmt.Fprintf(w, "binding    %s\n", bindingLine(g.GetBinding()))
	for _, r := range g.GetRoutes() {
		disabled := ""
		if !r.GetEnabled() {
			disabled = " (disabled)"
		}
		fmt.Fprintf(w, "\nroute %s%s\n    match %s\n", oneLine(r.GetName()), disabled, value(r.GetMatch()))
		for i, t := range r.GetTiers() {
			fmt.Fprintf(w, "    tier %d  %s of %s: %s\n", i+1, t.GetStrategy(), listed(t.GetClasses()), members(t, g.GetServers()))
		}
	}
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CLASS\tSERVERS\tMATCH")
	for _, c := range g.GetClasses() {
		fmt.Fprintf(table, "%s\t%s\t%s\n", oneLine(c.GetName()), listed(c.GetServers()), value(c.GetMatch()))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	table = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SERVER\tROLE\tBY\tCLASSES\tHOSTGROUPS\tWEIGHT\tUNAVAILABLE")
	for _, s := range g.GetServers() {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", serverName(s), s.GetMemberRole(), orDash(s.GetRoleSource()), listed(s.GetClasses()),
			hostgroups(s.GetHostgroups()), s.GetWeight(), orDash(oneLine(s.GetUnavailable())))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(g.GetNotes()) > 0 {
		fmt.Fprintln(w)
	}
	for _, note := range g.GetNotes() {
		fmt.Fprintf(w, "note: %s\n", oneLine(note))
	}
	return nil
}

func guidelineName(g *configv1.GetGuidelineResponse) string {
	name := "without a name"
	if g.GetName() != "" {
		name = oneLine(g.GetName())
	}
	return fmt.Sprintf("%s (version %s)", name, g.GetVersion())
}

func bindingLine(b *configv1.GuidelineBinding) string {
	modes := make([]string, 0, len(b.GetListeners())+1)
	for _, listener := range slices.Sorted(maps.Keys(b.GetListeners())) {
		modes = append(modes, fmt.Sprintf("listener %s %s", oneLine(listener), b.GetListeners()[listener]))
	}
	modes = append(modes, "other listeners "+b.GetDefaultMode())
	return fmt.Sprintf("writer hostgroup %d, reader hostgroup %d; %s", b.GetWriterHostgroup(), b.GetReaderHostgroup(), strings.Join(modes, ", "))
}

// members lists a tier's servers; behind those that can't be drawn now stands why.
func members(t *configv1.GuidelineTier, servers []*configv1.GuidelineServer) string {
	why := make(map[string]string, len(servers))
	for _, s := range servers {
		why[s.GetServer()] = s.GetUnavailable()
	}
	if len(t.GetServers()) == 0 {
		return "no server"
	}
	out := make([]string, len(t.GetServers()))
	for i, server := range t.GetServers() {
		out[i] = oneLine(server)
		if reason := why[server]; reason != "" {
			out[i] += " (" + oneLine(reason) + ")"
		}
	}
	return strings.Join(out, ", ")
}

// serverName gives the address, and the label if it is another one.
func serverName(s *configv1.GuidelineServer) string {
	if s.GetLabel() == s.GetServer() {
		return oneLine(s.GetServer())
	}
	return oneLine(fmt.Sprintf("%s (%s)", s.GetServer(), s.GetLabel()))
}

func listed(texts []string) string {
	return orDash(oneLine(strings.Join(texts, ", ")))
}

func hostgroups(numbers []int32) string {
	out := make([]string, len(numbers))
	for i, n := range numbers {
		out[i] = strconv.Itoa(int(n))
	}
	return orDash(strings.Join(out, ", "))
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
