package ctl

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pointsman/pointsman/clients/facts"
	"github.com/pointsman/pointsman/decision/guideline"
)

func (a *app) guidelineEval() *cobra.Command {
	var (
		version string
		set     []string
		resolve []string
		bulk    bool
	)
	cmd := &cobra.Command{
		Use:   "eval [EXPRESSION]",
		Short: "Evaluate an expression",
		Long: "Evaluate an expression of a guideline with the variables that --set gives; all others are NULL. No server is asked.\n" +
			"Exit status 1 when it can't be evaluated.\n\n" +
			"With --ndjson each input line {\"version\", \"expression\", \"context\": {NAME: VALUE}, \"resolve_cache\": {HOST: ADDRESS}}\n" +
			"gives a line {\"type\", \"value\"} or {\"error\", \"phase\"}.",
	}
	f := cmd.Flags()
	f.StringVar(&version, "version", "1.1", "the version of the guideline that the expression is for: tags differ in 1.0")
	f.StringArrayVar(&set, "set", nil, "a variable, for example server.port=3306 or server.tags.zone=eu; repeat it for more")
	f.StringArrayVar(&resolve, "resolve", nil, "what RESOLVE_V4 and RESOLVE_V6 find, HOST=ADDRESS; repeat it for more")
	f.BoolVar(&bulk, "ndjson", false, "one JSON object a line on standard input, one on standard output")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if bulk {
			if len(args) > 0 {
				return errors.New("--ndjson reads expressions from standard input, not from arguments")
			}
			return a.bulk(evalLine)
		}
		if len(args) == 0 {
			return errors.New("no expression given; write it as an argument in quotes, or use --ndjson")
		}
		vars := make([]guideline.Variable, len(set))
		for i, text := range set {
			var err error
			if vars[i], err = facts.Parse(text); err != nil {
				return fmt.Errorf("flag --set: %w", err)
			}
		}
		names, err := facts.ParseNames(resolve)
		if err != nil {
			return fmt.Errorf("flag --resolve: %w", err)
		}
		return a.printEval(version, strings.Join(args, " "), vars, names)
	}
	return cmd
}

func (a *app) printEval(version, expression string, vars []guideline.Variable, names guideline.Names) error {
	value, bad := guideline.Evaluate(version, expression, vars, names)
	switch {
	case a.output == "json":
		if err := a.printJSON(evalAnswer(value, bad)); err != nil {
			return err
		}
	case bad != nil:
		fmt.Fprintln(a.io.Out, oneLine(bad.Message))
		if at := fault(expression, bad.Message, vars); at != nil {
			writeCaret(a.io.Err, expression, at.Start, at.End)
		}
	default:
		fmt.Fprintln(a.io.Out, literal(value))
	}
	if bad != nil {
		return errNo
	}
	return nil
}

// fault finds where an expression has the fault that a message is about; nil when it shows only as it is evaluated.
func fault(expression, message string, vars []guideline.Variable) *guideline.ExpressionError {
	for _, jsonTags := range []bool{true, false} {
		_, bad := guideline.ParseExpression(expression, guideline.ParseOptions{JSONTags: jsonTags, Extra: vars})
		if bad != nil && bad.Message == message {
			return bad
		}
	}
	return nil
}

// literal gives a value as expressions write it.
func literal(v guideline.Value) string {
	switch v.Type {
	case guideline.Number:
		return strings.ToLower(fmt.Sprint(jsonNumber(v.Number)))
	case guideline.String:
		return "'" + oneLine(v.Text) + "'"
	case guideline.Boolean:
		return strings.ToUpper(strconv.FormatBool(v.Bool))
	case guideline.RoleType:
		return oneLine(v.Text)
	case guideline.Null:
	}
	return v.Type.String()
}

type evalQuestion struct {
	Version      string                     `json:"version"`
	Expression   *string                    `json:"expression"`
	Context      map[string]any             `json:"context"`
	ResolveCache map[string]facts.Addresses `json:"resolve_cache"`
}

// evalValue is the value of an expression.
type evalValue struct {
	Type  string `json:"type"`
	Value any    `json:"value"`
}

// evalError is why an expression has no value.
type evalError struct {
	Error string `json:"error"`
	Phase string `json:"phase"`
}

func evalLine(dst, line []byte) ([]byte, error) {
	q := evalQuestion{Version: "1.0"}
	if err := readLine(line, &q); err != nil {
		return dst, err
	}
	if q.Expression == nil {
		return dst, badLine("expression is missing")
	}
	vars, err := facts.FromJSON(q.Context)
	if err != nil {
		return dst, badLine("context.%v", err)
	}
	value, bad := guideline.Evaluate(q.Version, *q.Expression, vars, facts.Names(q.ResolveCache))
	return appendJSON(dst, evalAnswer(value, bad))
}

func evalAnswer(v guideline.Value, bad *guideline.EvaluationError) any {
	if bad != nil {
		return evalError{bad.Message, bad.Phase}
	}
	out := evalValue{Type: strings.ToLower(v.Type.String())}
	switch v.Type {
	case guideline.Number:
		out.Value = jsonNumber(v.Number)
	case guideline.String, guideline.RoleType:
		out.Value = v.Text
	case guideline.Boolean:
		out.Value = v.Bool
	case guideline.Null:
	}
	return out
}

// jsonNumber is a number, or a text for those that JSON lacks.
func jsonNumber(n float64) any {
	switch {
	case math.IsNaN(n):
		return "NaN"
	case math.IsInf(n, 1):
		return "Infinity"
	case math.IsInf(n, -1):
		return "-Infinity"
	}
	return n
}
