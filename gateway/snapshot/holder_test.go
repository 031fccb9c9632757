package snapshot

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	"github.com/pointsman/pointsman/store/lastgood"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func userList(names ...string) *configv1.UserList {
	l := &configv1.UserList{}
	for _, n := range names {
		l.Users = append(l.Users, &configv1.User{Username: n, Password: new("secret of " + n)})
	}
	return l
}

func serverList(hosts ...string) *configv1.ServerList {
	l := &configv1.ServerList{}
	for _, h := range hosts {
		l.Servers = append(l.Servers, &configv1.Server{HostgroupId: 1, Hostname: h})
	}
	return l
}

func full(generation uint64, user, host string) *configv1.WatchGatewayConfigResponse {
	return &configv1.WatchGatewayConfigResponse{
		Generation: generation, Sequence: 1, Users: userList(user), Servers: serverList(host), Settings: &configv1.Settings{ServerVersion: new("9")},
	}
}

// follow runs the holder over messages and gives the generations that it took over.
func follow(t *testing.T, h *Holder, messages ...*configv1.WatchGatewayConfigResponse) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var failed error
	h.Run(ctx, func(ctx context.Context, f func(*configv1.WatchGatewayConfigResponse) error) error {
		for _, m := range messages {
			if failed = f(m); failed != nil {
				break
			}
		}
		cancel()
		return ctx.Err()
	})
	return failed
}

// testSite has two listeners, one of which has the name of its mode.
func testSite() *Site {
	return &Site{
		Name: "gw", Hostname: "host", LocalCluster: "c1", Tags: map[string]string{"zone": `"a"`},
		Listeners: []Listener{{"default", "127.0.0.1", 6033}, {"ro", "127.0.0.1", 6034}},
	}
}

func newHolder(path string, seen *[]uint64, log *bytes.Buffer) *Holder {
	return NewHolder(path, testSite(), slog.New(slog.NewTextHandler(log, nil)), func(s *Snapshot) { *seen = append(*seen, s.Generation) })
}

func TestMerge(t *testing.T) {
	var seen []uint64
	var log bytes.Buffer
	h := newHolder("", &seen, &log)
	if h.Current() != nil {
		t.Error("a snapshot out of nothing")
	}
	select {
	case <-h.First():
		t.Error("first snapshot announced")
	default:
	}
	err := follow(t, h, full(1, "a", "x"),
		&configv1.WatchGatewayConfigResponse{Generation: 2, Sequence: 2, Servers: serverList("y", "z")},
		&configv1.WatchGatewayConfigResponse{Generation: 3, Sequence: 3, Users: userList("b")},
	)
	<-h.First()
	s := h.Current()
	if err != nil || len(seen) != 3 || s.Generation != 3 || s.User("a") != nil || s.User("b") == nil ||
		len(s.Hostgroup(1).Servers) != 2 || s.Settings.ServerVersion != "9" {
		t.Errorf("%v, %v: %+v", err, seen, s)
	}
}

func TestWithoutPublication(t *testing.T) {
	var seen []uint64
	var log bytes.Buffer
	h := newHolder("", &seen, &log)
	// The settings do not change with the first publication, so they do not come again.
	err := follow(t, h, &configv1.WatchGatewayConfigResponse{Sequence: 1, Users: userList(), Servers: serverList(), Settings: &configv1.Settings{}})
	if err != nil || h.Current() != nil {
		t.Errorf("snapshot of nothing: %v", err)
	}
	err = follow(t, h, &configv1.WatchGatewayConfigResponse{Sequence: 1, Users: userList(), Servers: serverList(), Settings: &configv1.Settings{}},
		&configv1.WatchGatewayConfigResponse{Generation: 1, Sequence: 2, Users: userList("a"), Servers: serverList("x")})
	if err != nil || h.Current() == nil || h.Current().User("a") == nil {
		t.Errorf("first publication not taken over: %v", err)
	}
}

func TestBadSubscription(t *testing.T) {
	var seen []uint64
	var log bytes.Buffer
	h := newHolder("", &seen, &log)
	if err := follow(t, h, &configv1.WatchGatewayConfigResponse{Generation: 2, Sequence: 2}); !errors.Is(err, errNoStart) {
		t.Errorf("subscription from the middle: %v", err)
	}
	if err := follow(t, h, full(1, "a", "x")); err != nil {
		t.Error(err)
	}
	incomplete := full(2, "b", "y")
	incomplete.Settings = nil
	if err := follow(t, h, incomplete); err != nil || h.Current().Generation != 1 || !strings.Contains(log.String(), "incomplete") {
		t.Errorf("incomplete configuration: %v, generation %d", err, h.Current().Generation)
	}
}

// TestRunGoesOn has a subscription that fails at once: the holder reports it and tries again.
func TestRunGoesOn(t *testing.T) {
	var seen []uint64
	var log bytes.Buffer
	h := newHolder("", &seen, &log)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tries := 0
	h.Run(ctx, func(context.Context, func(*configv1.WatchGatewayConfigResponse) error) error {
		if tries++; tries == 2 {
			cancel()
		}
		return errors.New("unimplemented")
	})
	if tries != 2 || !strings.Contains(log.String(), "unimplemented") {
		t.Errorf("%d tries\n%s", tries, log.String())
	}
}

func TestLastGood(t *testing.T) {
	path := filepath.Join(t.TempDir(), "copy")
	var seen []uint64
	var log bytes.Buffer
	h := newHolder(path, &seen, &log)
	if h.Current() != nil || log.Len() != 0 {
		t.Errorf("without a file: %s", log.String())
	}
	if err := follow(t, h, full(7, "a", "x"), &configv1.WatchGatewayConfigResponse{Generation: 8, Sequence: 2, Users: userList("b")}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("file %v, %v", info, err)
	}
	seen = nil
	s := newHolder(path, &seen, &log).Current()
	if s == nil || s.Generation != 8 || s.User("b").GetPassword() != "secret of b" || s.Hostgroup(1) == nil || len(seen) != 1 {
		t.Fatalf("loaded %+v, announced %v", s, seen)
	}
	if strings.Contains(log.String(), "secret") {
		t.Error("a secret is in the log")
	}

	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	otherFormat := filepath.Join(t.TempDir(), "format")
	if err := lastgood.Save(otherFormat, lastgood.Record{Generation: 1, Format: format + 1, Time: time.Now(), Bytes: []byte{1}}); err != nil {
		t.Fatal(err)
	}
	newer, err := os.ReadFile(otherFormat)
	if err != nil {
		t.Fatal(err)
	}
	for name, damaged := range map[string][]byte{"cut": content[:len(content)/2], "changed": append(bytes.Clone(content[:len(content)-1]), content[len(content)-1]^1), "empty": {}, "newer": newer} {
		log.Reset()
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if h := newHolder(path, &seen, &log); h.Current() != nil || !strings.Contains(log.String(), "unusable") {
			t.Errorf("%s: %s", name, log.String())
		}
	}
	// What can't be saved is reported; the configuration is in force all the same.
	log.Reset()
	h = newHolder(filepath.Join(t.TempDir(), "no", "folder"), &seen, &log)
	if err := follow(t, h, full(9, "a", "x")); err != nil || h.Current() == nil || !strings.Contains(log.String(), "not saved") {
		t.Errorf("%v\n%s", err, log.String())
	}
}
