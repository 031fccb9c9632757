package decision

import "fmt"

// Summary says in one sentence where the statement goes and why.
func (x *Explanation) Summary() string {
	last, before := x.lastDestination(), x.destinationBefore()
	switch last.By {
	case ReasonRule:
		return fmt.Sprintf("hostgroup %d because rule %d %s", last.Hostgroup, last.RuleID, x.whyRule(last.RuleID))
	case ReasonFastRoute:
		key := x.FastRoute.Keys[len(x.FastRoute.Keys)-1]
		user := fmt.Sprintf("user %q", key.Username)
		if key.Username == "" {
			user = "any user"
		}
		return fmt.Sprintf("hostgroup %d because of the fast route for %s, schema %q, flag %d%s",
			last.Hostgroup, user, key.Schemaname, key.FlagIn, insteadOf(before))
	case ReasonAnnotation:
		return fmt.Sprintf("hostgroup %d because the statement's comment says so%s", last.Hostgroup, insteadOf(before))
	case ReasonDefaultHostgroup:
		why := "no matching rule and no fast route gives another one"
		if x.Session.FastForward {
			why = "fast_forward leaves out rules, fast routes and annotations"
		}
		return fmt.Sprintf("hostgroup %d because it is the default_hostgroup of user %q: %s", last.Hostgroup, x.Session.Username, why)
	case ReasonTransaction:
		return fmt.Sprintf("hostgroup %d because the session's transaction is open there%s", last.Hostgroup, insteadOf(before))
	case ReasonLocked:
		return fmt.Sprintf("hostgroup %d because the session is locked there%s", last.Hostgroup, insteadOf(before))
	case ReasonGuideline:
		return x.whyGuideline(last, before)
	case ReasonAnswered:
		return fmt.Sprintf("no hostgroup because rule %d answers the statement itself", last.RuleID)
	}
	return ""
}

// whyRule says what let a rule have the last word.
func (x *Explanation) whyRule(id uint32) string {
	for i := len(x.Walk.Steps) - 1; i >= 0; i-- {
		step := &x.Walk.Steps[i]
		switch {
		case step.Failed != "" || step.RuleID != id:
			continue
		case step.Stopped:
			return "matches and ends the walk"
		case x.destinationBefore().By == ReasonRule:
			return "is the last of the matching rules that have a destination"
		default:
			return "is the only matching rule that has a destination"
		}
	}
	return "is the last of the matching rules that have a destination"
}

func (x *Explanation) lastDestination() DestinationStep { return x.Destinations[len(x.Destinations)-1] }

// destinationBefore is what the last one overrides: the user's default, if nothing else.
func (x *Explanation) destinationBefore() DestinationStep {
	return x.Destinations[max(0, len(x.Destinations)-2)]
}

// insteadOf says what was overridden.
func insteadOf(d DestinationStep) string {
	switch d.By {
	case ReasonRule:
		return fmt.Sprintf("; else it would be %d by rule %d", d.Hostgroup, d.RuleID)
	case ReasonFastRoute:
		return fmt.Sprintf("; else it would be %d by a fast route", d.Hostgroup)
	case ReasonAnnotation:
		return fmt.Sprintf("; else it would be %d by the statement's comment", d.Hostgroup)
	case ReasonDefaultHostgroup, ReasonTransaction, ReasonLocked, ReasonAnswered, ReasonGuideline:
	}
	return fmt.Sprintf("; else it would be the default %d", d.Hostgroup)
}

// whyGuideline says which pool stands in for which hostgroup.
func (x *Explanation) whyGuideline(last, before DestinationStep) string {
	choice := &x.Answer.Guideline
	if last.Hostgroup == None {
		return "no hostgroup because " + choice.Refusal
	}
	by := "the default"
	switch before.By {
	case ReasonRule:
		by = fmt.Sprintf("by rule %d", before.RuleID)
	case ReasonFastRoute:
		by = "by a fast route"
	case ReasonAnnotation:
		by = "by the statement's comment"
	case ReasonDefaultHostgroup, ReasonTransaction, ReasonLocked, ReasonAnswered, ReasonGuideline:
	}
	return fmt.Sprintf("pool %s in place of hostgroup %d (%s) because route %q of the routing guideline %q matches the session",
		choice.Pools[0], last.Hostgroup, by, choice.Name, choice.Guideline)
}
