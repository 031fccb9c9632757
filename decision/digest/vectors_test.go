package digest

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"testing"
)

// vector is one statement with its right digest. Vectors with a hash were computed for, and mostly measured on, a
// running ProxySQL 2.7.2. Texts that are not UTF-8 are in the Base64 fields.
type vector struct {
	ID      string `json:"id"`
	Options struct {
		MaxQueryLength      *int `json:"max_query_length"`
		MaxDigestLength     *int `json:"max_digest_length"`
		Lowercase           bool `json:"lowercase"`
		ReplaceNull         bool `json:"replace_null"`
		NoDigits            bool `json:"no_digits"`
		KeepComment         bool `json:"keep_comment"`
		GroupingLimit       *int `json:"grouping_limit"`
		GroupsGroupingLimit *int `json:"groups_grouping_limit"`
	} `json:"options"`
	SQL          *string         `json:"sql"`
	RawSQL       []byte          `json:"sql_b64"`
	Digest       *string         `json:"digest_text"`
	RawDigest    []byte          `json:"digest_text_b64"`
	Stored       *string         `json:"digest_text_stored"`
	Hash         string          `json:"digest_hash"`
	FirstComment json.RawMessage `json:"first_comment"`
}

func (v *vector) options() *Options {
	o := DefaultOptions()
	set := func(to, from *int) {
		if from != nil {
			*to = *from
		}
	}
	set(&o.MaxQueryLength, v.Options.MaxQueryLength)
	set(&o.MaxDigestLength, v.Options.MaxDigestLength)
	set(&o.GroupingLimit, v.Options.GroupingLimit)
	set(&o.GroupsGroupingLimit, v.Options.GroupsGroupingLimit)
	o.Lowercase, o.ReplaceNull = v.Options.Lowercase, v.Options.ReplaceNull
	o.NoDigits, o.KeepComment = v.Options.NoDigits, v.Options.KeepComment
	return &o
}

// bytesOf chooses between the two forms of a text.
func bytesOf(text *string, raw []byte) []byte {
	if text != nil {
		return []byte(*text)
	}
	return raw
}

func load[T any](tb testing.TB, name string) (rows []T) {
	tb.Helper()
	data, err := fs.ReadFile(os.DirFS("testdata"), name)
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.Unmarshal(data, &rows); err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	return rows
}

func TestVectors(t *testing.T) {
	var b Buffer
	for _, file := range []string{"digests.json", "steps.json", "comments.json"} {
		for _, v := range load[vector](t, file) {
			t.Run(file+"/"+v.ID, func(t *testing.T) { checkVector(t, &b, &v) })
		}
	}
}

func checkVector(t *testing.T, b *Buffer, v *vector) {
	t.Helper()
	sql, o := bytesOf(v.SQL, v.RawSQL), v.options()
	got := Compute(b, sql, o)
	if v.Digest != nil || v.RawDigest != nil {
		text, want := got.Text, bytesOf(v.Digest, v.RawDigest)
		if v.Digest != nil {
			text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
		}
		if !bytes.Equal(text, want) {
			t.Errorf("digest text of %q (%+v)\n got %q\nwant %q", sql, *o, got.Text, want)
		}
	}
	if v.Stored != nil && string(got.Text[:o.MaxDigestLength]) != *v.Stored {
		t.Errorf("stored text: got %q, want %q", got.Text[:o.MaxDigestLength], *v.Stored)
	}
	if v.Hash != "" && Format(got.Hash) != v.Hash {
		t.Errorf("hash of %q: got %s, want %s", got.Text, Format(got.Hash), v.Hash)
	}
	switch comment := string(v.FirstComment); comment {
	case "": // Not known.
	case "null":
		if got.HasComment {
			t.Errorf("first comment of %q: got %q, want none", sql, got.FirstComment)
		}
	default:
		var want string
		if err := json.Unmarshal(v.FirstComment, &want); err != nil {
			t.Fatal(err)
		}
		if !got.HasComment || string(got.FirstComment) != want {
			t.Errorf("first comment of %q: got %v %q, want %q", sql, got.HasComment, got.FirstComment, want)
		}
	}
}
