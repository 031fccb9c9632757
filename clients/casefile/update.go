package casefile

import (
	"slices"
	"strings"
)

// Update gives the file's text with the wanted values replaced by those of the results, which are of this file. A
// statement for which nothing is wanted gets the destination, its reason, the matched rules and all effects. Nothing
// else changes.
func (f *File) Update(results []Result) []byte {
	lines := slices.Clone(f.lines)
	for i := range results {
		r := &results[i]
		f.updateProblems(lines, r)
		for j, s := range r.Case.steps {
			got := r.answers[j]
			if got.values[fieldError] != Unset && !s.wantsError() {
				continue // there is no answer to write
			}
			for _, w := range s.wants {
				if have := got.values[w.field]; have != w.value {
					lines[w.line-1] = w.field + ": " + writeValue(have) + lineEnd(lines[w.line-1])
				}
			}
			if len(s.wants) > 0 {
				continue
			}
			var added strings.Builder
			end := lineEnd(lines[s.last-1])
			if end == "" { // the last line of the file
				end = "\n"
				added.WriteString(end)
			}
			for _, name := range got.worth {
				added.WriteString(name + ": " + writeValue(got.values[name]) + end)
			}
			lines[s.last-1] += added.String()
		}
	}
	return []byte(strings.Join(lines, ""))
}

// updateProblems puts all problems in the place of the first wanted one.
func (f *File) updateProblems(lines []string, r *Result) {
	if len(r.Case.problems) == 0 || !slices.ContainsFunc(r.Failures, func(x Failure) bool { return x.Field == "problem" }) {
		return
	}
	got := r.problems
	if len(got) == 0 {
		got = []string{Unset}
	}
	first := r.Case.problems[0].line - 1
	end := lineEnd(lines[first])
	if end == "" {
		end = "\n"
	}
	for _, w := range r.Case.problems {
		lines[w.line-1] = ""
	}
	lines[first] = "problem: " + strings.Join(got, end+"problem: ") + end
}

func (s *step) wantsError() bool {
	return slices.ContainsFunc(s.wants, func(w want) bool { return w.field == fieldError })
}

// lineEnd gives the characters that end a line.
func lineEnd(line string) string {
	for _, end := range []string{"\r\n", "\n"} {
		if strings.HasSuffix(line, end) {
			return end
		}
	}
	return ""
}

// Unfinished gives a mistake for each statement for which nothing is wanted.
func (f *File) Unfinished() MistakesError {
	var out MistakesError
	for _, c := range f.Cases {
		for _, s := range c.steps {
			if len(s.wants) == 0 {
				out = append(out, f.mistake(s.line, "nothing is wanted of this statement; name a field of the answer, or let --update write some"))
			}
		}
	}
	return out
}

// KeepErrors leaves those failures of a result that Update does not mend: statements without an answer.
func (r *Result) KeepErrors() {
	r.Failures = slices.DeleteFunc(r.Failures, func(x Failure) bool {
		return x.Field != fieldError || x.Want != Unset
	})
}
