package rules

import (
	"strings"
	"testing"
)

func TestAnnotations(t *testing.T) {
	const now = 1_700_000_000_000
	tests := []struct {
		comment     string
		destination int32
		effects     Effects
		ignored     uint32
		usesTime    bool
	}{
		{"", None, Effects{}, 0, false},
		{" hostgroup=5 ", 5, Effects{}, 0, false},
		{"\thostgroup\n=\v5\r", 5, Effects{}, 0, false},
		{"hostgroup==5", 5, Effects{}, 0, false},
		{"=hostgroup=5", 5, Effects{}, 0, false},
		{"hostgroup= =5", None, Effects{}, 0, false},
		{"hostgroup=-5;hostgroup=+5;hostgroup='5'", None, Effects{}, 0, false},
		{"hostgroup=2147483647", 1<<31 - 1, Effects{}, 0, false},
		{"hostgroup=3;hostgroup=2147483648", 3, Effects{}, 1, false},
		{"hostgroup=99999999999999999999999999", None, Effects{}, 1, false},
		{"hostgroup=00000000000000000000000000000000007", 7, Effects{}, 0, false},
		{"cache_ttl=4294967295", None, Effects{Set: CacheTTL, CacheTTL: 1<<32 - 1}, 0, false},
		{"cache_ttl=4294967296;query_delay=42949672950", None, Effects{}, 2, false},
		{"max_lag_ms=600000", None, Effects{Set: MaxLagMS, MaxLagMS: 600000}, 0, false},
		{"max_lag_ms=5;max_lag_ms=600001", None, Effects{Set: MaxLagMS, MaxLagMS: 5}, 0, false},
		{"min_epoch_ms=1699999999000", None, Effects{Set: MaxLagMS, MaxLagMS: 1000}, 0, true},
		{"min_epoch_ms=1700000000000", None, Effects{Set: MaxLagMS}, 0, true},
		{"min_epoch_ms=1700000000001", None, Effects{}, 0, true},
		{"min_epoch_ms=1", None, Effects{}, 0, true},
		{"min_epoch_ms=x", None, Effects{}, 0, false},
		{"min_epoch_ms=18446744073709551616", None, Effects{}, 1, false},
		{"min_epoch_ms=9223372036854775808", None, Effects{}, 1, false},
		{"create_new_connection=0", None, Effects{}, 0, false},
		{"create_new_connection=2", None, Effects{}, 0, false},
		{"CREATE_NEW_CONNECTION=1x", None, Effects{Set: CreateNewConn, CreateNewConn: true}, 0, false},
		{"min_gtid=abc:5", None, Effects{Set: MinGTID, MinGTID: []byte("abc:5")}, 0, false},
		{"min_gtid= a  b:5 ", None, Effects{Set: MinGTID, MinGTID: []byte("a b:5")}, 0, false},
		{"min_gtid=abc:5;min_gtid=d:6", None, Effects{Set: MinGTID, MinGTID: []byte("d:6")}, 0, false},
		{"min_gtid=:5;min_gtid=abc;min_gtid=5;min_gtid=abc:;min_gtid=abc:x", None, Effects{}, 0, false},
		{"Mirror=7;Query_Retries=2", None, Effects{Set: MirrorHostgroup | Retries, MirrorHostgroup: 7, Retries: 2}, 0, false},
		{"+ hostgroup=5; x hostgroup=5;hostgroups=5", None, Effects{}, 0, false},
	}
	var a Annotations
	for _, tt := range tests {
		a.Parse([]byte(tt.comment), now)
		var got Effects
		a.Apply(&got)
		gtid := string(got.MinGTID) == string(tt.effects.MinGTID)
		got.MinGTID, tt.effects.MinGTID = nil, nil
		if a.Destination != tt.destination || a.Ignored != tt.ignored || a.UsesTime != tt.usesTime || !gtid ||
			!sameEffects(&got, &tt.effects) {
			t.Errorf("%q: %+v", tt.comment, a)
		}
	}
}

func sameEffects(a, b *Effects) bool {
	return a.Set == b.Set && a.CacheTTL == b.CacheTTL && a.Retries == b.Retries && a.Delay == b.Delay &&
		a.MaxLagMS == b.MaxLagMS && a.MirrorHostgroup == b.MirrorHostgroup && a.CreateNewConn == b.CreateNewConn
}

func TestHasAnnotation(t *testing.T) {
	for _, comment := range []string{"", " x ", "hostgroup"} {
		if HasAnnotation([]byte(comment)) {
			t.Errorf("%q has one", comment)
		}
	}
	if !HasAnnotation([]byte("a=")) {
		t.Error("a= has none")
	}
}

// FuzzAnnotations checks that parsing never panics, is the same twice, and sees nothing where HasAnnotation doesn't.
func FuzzAnnotations(f *testing.F) {
	f.Add([]byte(" hostgroup=5;min_gtid=a:5 "), int64(5))
	f.Add([]byte("min_epoch_ms=3;max_lag_ms=99999999999999999999"), int64(-1))
	f.Add([]byte(strings.Repeat("=;", 100)), int64(0))
	f.Fuzz(func(t *testing.T, comment []byte, now int64) {
		var a, b Annotations
		a.Parse(comment, now)
		b.Parse(comment, now)
		if a.Destination != b.Destination || a.Ignored != b.Ignored || !sameEffects(&a.Effects, &b.Effects) {
			t.Errorf("%+v, then %+v", a, b)
		}
		if !HasAnnotation(comment) && (a.Destination != None || a.Effects.Set != 0 || a.Ignored != 0 || a.UsesTime) {
			t.Errorf("%q has annotations without a =: %+v", comment, a)
		}
	})
}
