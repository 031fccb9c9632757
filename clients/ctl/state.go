package ctl

import (
	"context"
	"fmt"
	"strings"
	"time"

	client "github.com/pointsman/pointsman/clients/go"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// stateLine tells the state of a server's configuration.
func stateLine(s *configv1.GetConfigStateResponse) string {
	running := s.GetRunningGeneration()
	switch s.GetState() {
	case configv1.ConfigState_CONFIG_STATE_CURRENT:
		return fmt.Sprintf("current, generation %d", running)
	case configv1.ConfigState_CONFIG_STATE_STALE:
		return fmt.Sprintf("stale, generation %d stays in force: %s", running, whyNot(s))
	case configv1.ConfigState_CONFIG_STATE_INVALID:
		return "invalid, nothing is in force: " + whyNot(s)
	case configv1.ConfigState_CONFIG_STATE_EMPTY:
		return "empty, nothing is published yet"
	case configv1.ConfigState_CONFIG_STATE_UNSPECIFIED:
	}
	return "unknown"
}

// whyNot tells why what was published last is not in force.
func whyNot(s *configv1.GetConfigStateResponse) string {
	var reasons []string
	if r := s.GetRejection(); r != nil {
		problems := "1 problem"
		if n := r.GetProblemCount(); n != 1 {
			problems = fmt.Sprintf("%d problems", n)
		}
		at := ""
		if t := r.GetCreateTime(); t != nil {
			at = " of " + t.AsTime().UTC().Format(time.DateTime) + "Z"
		}
		reasons = append(reasons, fmt.Sprintf("the publication%s%s%s was refused with %s", at, comment(" by ", r.GetAuthor()), comment(": ", r.GetNote()), problems))
	}
	if why := s.GetRunningProblem(); why != "" {
		reasons = append(reasons, fmt.Sprintf("generation %d can't be run by this server: %s", s.GetNewestGeneration(), oneLine(why)))
	}
	if len(reasons) == 0 {
		return "what was published last was refused"
	}
	return strings.Join(reasons, "; ")
}

// warnOfState says on standard error when the server does not decide with what was published last. A server that can't
// tell is no fault of the verb that asks.
func (a *app) warnOfState(ctx context.Context, c *client.Client) {
	s, err := c.Config().GetConfigState(ctx, &configv1.GetConfigStateRequest{})
	if err != nil || a.output != "text" {
		return
	}
	switch s.GetState() {
	case configv1.ConfigState_CONFIG_STATE_STALE, configv1.ConfigState_CONFIG_STATE_INVALID:
		fmt.Fprintf(a.io.Err, "state %s\n", stateLine(s))
	default:
	}
}
