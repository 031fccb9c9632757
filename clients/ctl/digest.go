package ctl

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/pointsman/pointsman/decision/digest"
)

func (a *app) digest() *cobra.Command {
	var (
		bulk bool
		mode string
	)
	cmd := &cobra.Command{
		Use:   "digest [SQL]",
		Short: "Print the digest of a statement",
		Long: "Print the digest hash and text of a statement, as ProxySQL 2.7 makes them with its default options,\n" +
			"or with --digest-mode corrected as the setting digest_mode makes them.\n\n" +
			"With --ndjson each input line {\"sql\" or \"sql_b64\", \"options\": {...}} gives a line\n" +
			"{\"digest\", \"digest_text\", \"first_comment\"}; {\"digest_text\", \"options\"} gives the hash of that text.",
	}
	cmd.Flags().BoolVar(&bulk, "ndjson", false, "one JSON object a line on standard input, one on standard output")
	cmd.Flags().StringVar(&mode, "digest-mode", modeCompatible, "compatible or corrected, as the setting digest_mode")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if mode != modeCompatible && mode != modeCorrected {
			return fmt.Errorf("flag --digest-mode: %q is neither %s nor %s", mode, modeCompatible, modeCorrected)
		}
		opts := digest.DefaultOptions()
		opts.Corrected = mode == modeCorrected
		var buf digest.Buffer
		if bulk {
			if len(args) > 0 {
				return errors.New("--ndjson reads statements from standard input, not from arguments")
			}
			return a.bulk(func(dst, line []byte) ([]byte, error) { return digestLine(&buf, &opts, dst, line) })
		}
		if len(args) == 0 {
			return errors.New("no statement given; write it as an argument, or use --ndjson")
		}
		res := digest.Compute(&buf, []byte(strings.Join(args, " ")), &opts)
		if a.output == "json" {
			return a.printJSON(newDigestAnswer(res))
		}
		fmt.Fprintf(a.io.Out, "%s  %s\n", digest.Format(res.Hash), printable(string(res.Text)))
		return nil
	}
	return cmd
}

// digestOptions are the options of a line, named as ProxySQL's variables without "mysql-query_digests_".
type digestOptions struct {
	MaxQueryLength      *int  `json:"max_query_length"`
	MaxDigestLength     *int  `json:"max_digest_length"`
	Lowercase           *bool `json:"lowercase"`
	ReplaceNull         *bool `json:"replace_null"`
	NoDigits            *bool `json:"no_digits"`
	KeepComment         *bool `json:"keep_comment"`
	GroupingLimit       *int  `json:"grouping_limit"`
	GroupsGroupingLimit *int  `json:"groups_grouping_limit"`

	DigestMode *string `json:"digest_mode"`
}

// The digest modes, as the setting digest_mode calls them.
const (
	modeCompatible = "compatible"
	modeCorrected  = "corrected"
)

type digestQuestion struct {
	SQL        *string       `json:"sql"`
	SQLBase64  *[]byte       `json:"sql_b64"`
	DigestText *string       `json:"digest_text"`
	Options    digestOptions `json:"options"`
}

type digestAnswer struct {
	Digest           string  `json:"digest"`
	DigestText       string  `json:"digest_text"`
	DigestTextBase64 string  `json:"digest_text_b64,omitempty"`
	FirstComment     *string `json:"first_comment"`
	CommentBase64    string  `json:"first_comment_b64,omitempty"`
}

func newDigestAnswer(res digest.Result) digestAnswer {
	out := digestAnswer{Digest: digest.Format(res.Hash), DigestText: string(res.Text)}
	out.DigestTextBase64 = base64IfBroken(res.Text)
	if res.HasComment {
		s := string(res.FirstComment)
		out.FirstComment = &s
		out.CommentBase64 = base64IfBroken(res.FirstComment)
	}
	return out
}

func base64IfBroken(text []byte) string {
	if utf8.Valid(text) {
		return ""
	}
	return base64.StdEncoding.EncodeToString(text)
}

func digestLine(buf *digest.Buffer, defaults *digest.Options, dst, line []byte) ([]byte, error) {
	var q digestQuestion
	if err := readLine(line, &q); err != nil {
		return dst, err
	}
	given := 0
	for _, set := range []bool{q.SQL != nil, q.SQLBase64 != nil, q.DigestText != nil} {
		if set {
			given++
		}
	}
	if given != 1 {
		return dst, badLine("give one of sql, sql_b64 and digest_text")
	}
	opts, err := q.Options.resolve(*defaults)
	if err != nil {
		return dst, err
	}
	if q.DigestText != nil {
		return appendJSON(dst, struct {
			Digest string `json:"digest"`
		}{digest.Format(digest.Hash([]byte(*q.DigestText), opts.MaxDigestLength))})
	}
	var sql []byte
	if q.SQL != nil {
		sql = []byte(*q.SQL)
	} else {
		sql = *q.SQLBase64
	}
	return appendJSON(dst, newDigestAnswer(digest.Compute(buf, sql, &opts)))
}

// resolve gives opts with what the line says instead.
func (o *digestOptions) resolve(opts digest.Options) (digest.Options, error) {
	for _, f := range []struct {
		name     string
		from     *int
		to       *int
		low, top int
	}{
		{"max_query_length", o.MaxQueryLength, &opts.MaxQueryLength, 16, 1 << 20},
		{"max_digest_length", o.MaxDigestLength, &opts.MaxDigestLength, 16, 1 << 20},
		{"grouping_limit", o.GroupingLimit, &opts.GroupingLimit, 0, 2089},
		{"groups_grouping_limit", o.GroupsGroupingLimit, &opts.GroupsGroupingLimit, 0, 2089},
	} {
		if f.from == nil {
			continue
		}
		if *f.from < f.low || *f.from > f.top {
			return opts, badLine("options.%s: %d is not within %d..%d", f.name, *f.from, f.low, f.top)
		}
		*f.to = *f.from
	}
	for _, f := range []struct{ from, to *bool }{
		{o.Lowercase, &opts.Lowercase}, {o.ReplaceNull, &opts.ReplaceNull}, {o.NoDigits, &opts.NoDigits}, {o.KeepComment, &opts.KeepComment},
	} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	if m := o.DigestMode; m != nil {
		if *m != modeCompatible && *m != modeCorrected {
			return opts, badLine("options.digest_mode: %q is neither %s nor %s", *m, modeCompatible, modeCorrected)
		}
		opts.Corrected = *m == modeCorrected
	}
	return opts, nil
}

func appendJSON(dst []byte, v any) ([]byte, error) {
	buf := bytes.NewBuffer(dst)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return dst, fmt.Errorf("marshal answer: %w", err)
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}
