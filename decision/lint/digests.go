package lint

import (
	"fmt"
	"regexp"
	"strings"
)

// matchDigest reports expressions that no digest text can match. Digest texts hold no literals, comments and line
// ends. A name in backticks may hold anything, so expressions with a backtick are left alone; quotes in such a name are
// folded as well, unless digest_mode is "corrected".
func (l *linter) matchDigest(r *rule) {
	e := r.digest
	if e == nil || r.row.NegateMatchPattern || len(e.branches) == 0 || strings.Contains(e.source, "`") || !*l.settings.QueryDigests {
		return
	}
	var why, number, blanks string
	for i := range e.branches {
		if why = l.impossible(e, &e.branches[i]); why == "" {
			break
		}
	}
	for i := range e.branches {
		for _, run := range e.branches[i].runs {
			if number == "" {
				number = strings.TrimSpace(numberAlone.FindString(run))
			}
			if blanks == "" && strings.Contains(run, "  ") {
				blanks = run
			}
		}
	}
	const remedy = "Write the expression for the digest text, as pointsmanctl digest prints it, or use match_pattern."
	switch {
	case why != "":
		l.warn(r, "match_digest", codeImpossibleDigest, "no digest text matches: "+why, remedy)
	case blanks != "":
		l.hint(r, "match_digest", codeImpossibleDigest, fmt.Sprintf("hardly any digest text matches: %q has several blanks, which are one there", blanks), remedy)
	case number != "":
		l.hint(r, "match_digest", codeNumberInDigest, fmt.Sprintf("the expression asks for the number in %q, but numbers are ? in digest texts", number),
			"Write \\? for the number, or use match_pattern.")
	}
}

var (
	// numberAlone is a number that is no part of a name, with what stands around it.
	numberAlone = regexp.MustCompile(`[\s=<>(,+*/%-]\d+(?:[\s=<>),;]|$)`)
	upper       = regexp.MustCompile(`[A-Z]`)
)

// impossible says why no digest text has what the alternative needs.
func (l *linter) impossible(e *expression, b *branch) string {
	for _, run := range b.runs {
		switch {
		case strings.ContainsAny(run, `'"`) && *l.settings.DigestMode != "corrected":
			return fmt.Sprintf("%q has a quote, and texts in quotes are ? there", run)
		case strings.Contains(run, "/*") && !*l.settings.QueryDigestsKeepComment:
			return fmt.Sprintf("%q begins a comment, and comments are left out", run)
		case strings.ContainsAny(run, "\t\r\n"):
			return fmt.Sprintf("%q has a tab or a line end, which are blanks there", run)
		case *l.settings.QueryDigestsLowercase && !e.caseless && upper.MatchString(run):
			return fmt.Sprintf("%q has capitals and the expression is case-sensitive, but query_digests_lowercase is on", run)
		}
	}
	return ""
}
