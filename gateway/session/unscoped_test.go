package session

import (
	"slices"
	"testing"
)

func TestUnscoped(t *testing.T) {
	for digest, want := range map[string][]string{
		"set @@sql_mode=?":                         {"sql_mode"},
		"SET @@`SQL_Mode` := ?":                    {"sql_mode"},
		"SET @@ time_zone = ?,@@a=IF(b,@@c=?,?)":   {"time_zone", "a"},
		"SELECT ?; SET a=?,@@b=@@c;":               {"b"},
		"SET @@session.a=?,@@GLOBAL . b=?,@@c.d=?": nil,
		"SET a=@@b,@c=@@d":                         nil,
		"SET NAMES utf8mb4":                        nil,
		"SELECT @@a=?":                             nil,
		"SET @@":                                   nil,
		"SET @@=?":                                 nil,
		"SET @@a-b=?,)(,@@e=":                      {"e"},
		"":                                         nil,
	} {
		if got := unscoped(digest); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", digest, got, want)
		}
	}
}
