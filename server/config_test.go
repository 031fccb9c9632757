package server

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// try runs the command line far enough to check its settings: the data directory can't be made.
func try(t *testing.T, args, environ []string) (code int, stderr string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	args = append(args, "--data-dir", filepath.Join(file, "below"))
	code = Main(t.Context(), "1.2.3", args, environ, &out, &errs)
	return code, errs.String()
}

func TestBadSettings(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := map[string]struct {
		args    []string
		environ []string
		want    string
	}{
		"unknown flag":           {[]string{"serve", "--nonsense"}, nil, "unknown flag: --nonsense"},
		"unknown command":        {[]string{"sreve"}, nil, `unknown command "sreve"`},
		"argument":               {[]string{"serve", "now"}, nil, "now"},
		"unknown variable":       {[]string{"serve"}, []string{"POINTSMAN_LISTENN=x"}, "environment variable POINTSMAN_LISTENN: there is no such setting"},
		"bad level":              {[]string{"serve", "--log-level", "loud"}, nil, "flag --log-level"},
		"bad level by variable":  {[]string{"serve"}, []string{"POINTSMAN_LOG_LEVEL=loud"}, "loud"},
		"bad format":             {[]string{"serve", "--log-format", "xml"}, nil, "flag --log-format"},
		"bad store":              {[]string{"serve", "--store", "zookeeper"}, nil, "flag --store"},
		"etcd without endpoints": {[]string{"serve", "--store", "etcd"}, nil, "flag --etcd-endpoints: required"},
		"empty endpoints":        {[]string{"serve", "--store", "etcd", "--etcd-endpoints=,,"}, nil, "flag --etcd-endpoints: an address is empty"},
		"endpoints without etcd": {[]string{"serve", "--etcd-endpoints", "x:1"}, nil, "are for --store=etcd"},
		"no listen":              {[]string{"serve", "--listen", ""}, nil, "flag --listen"},
		"bad prefix":             {[]string{"serve", "--etcd-prefix", "x"}, nil, "flag --etcd-prefix"},
		"cert alone":             {[]string{"serve", "--store", "etcd", "--etcd-endpoints", "x:1", "--etcd-cert", "c"}, nil, "belong together"},
		"no CA file":             {[]string{"serve", "--store", "etcd", "--etcd-endpoints", "x:1", "--etcd-ca", filepath.Join(dir, "absent")}, nil, "flag --etcd-ca"},
		"no CA in file":          {[]string{"serve", "--store", "etcd", "--etcd-endpoints", "x:1", "--etcd-ca", write("ca", "x")}, nil, "holds no PEM certificate"},
		"password alone":         {[]string{"serve", "--monitor-password-file", "x"}, nil, "flag --monitor-password-file: it is for --monitor-username"},
		"no password file":       {[]string{"serve", "--monitor-username", "m", "--monitor-password-file", filepath.Join(dir, "absent")}, nil, "flag --monitor-password-file"},
		"monitor CA alone":       {[]string{"serve", "--monitor-tls-ca", "x"}, nil, "flag --monitor-tls-ca: it is for --monitor-username"},
		"no monitor CA file":     {[]string{"serve", "--monitor-username", "m", "--monitor-tls-ca", filepath.Join(dir, "absent")}, nil, "flag --monitor-tls-ca"},
		"monitor interval":       {[]string{"serve", "--monitor-interval", "1ms"}, nil, "flag --monitor-interval: 1ms is too short, the least is 100ms"},
		"resolve interval":       {[]string{"serve"}, []string{"POINTSMAN_RESOLVE_INTERVAL=0s"}, "flag --resolve-interval: 0s is too short"},
		"no settings file":       {[]string{"serve", "--settings", filepath.Join(dir, "absent")}, nil, "flag --settings"},
		"unknown setting":        {[]string{"serve", "--settings", write("unknown.yaml", "colour: red\n")}, nil, `there is no setting "colour"`},
		"bad setting":            {[]string{"serve", "--settings", write("bad.yaml", "listen: {a: b}\n")}, nil, "listen: map[a:b] is neither a text"},
		"data dir":               {[]string{"serve"}, nil, "make data directory"},
		"data dir of the store":  {[]string{"store"}, []string{"POINTSMAN_LISTEN=x"}, "make data directory"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			code, stderr := try(t, tt.args, tt.environ)
			if want := map[bool]int{true: 2, false: 1}[tt.args[0] != "store"]; code != want {
				t.Errorf("exit status %d, want %d", code, want)
			}
			last := strings.TrimSpace(stderr[strings.LastIndex(strings.TrimSpace(stderr), "\n")+1:])
			if !strings.HasPrefix(last, "pointsman: ") || !strings.Contains(last, tt.want) {
				t.Errorf("last line %q, want %q in it", last, tt.want)
			}
		})
	}
}

func TestSettingsInForce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.yaml")
	if err := os.WriteFile(file, []byte("log-format: json\nadmin: from-file:1\netcd-prefix: /from-file\nlisten: [a:1, b:2]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr := try(t,
		[]string{"serve", "--etcd-prefix", "/from-flag", "--store=etcd", "--etcd-endpoints", "https://root:secret@etcd:2379"},
		[]string{
			"POINTSMAN_SETTINGS=" + file, "POINTSMAN_ADMIN=from-environment:1", "POINTSMAN_ETCD_PREFIX=/from-environment",
			// None of these is for this program.
			"POINTSMAN_DECISION=x", "POINTSMAN_SERVER=x", "POINTSMAN_DEMO_PORT=1", "POINTSMAN_SERVICE_HOST=10.0.0.1",
			"POINTSMAN_SERVICE_PORT_GRPC=7", "POINTSMAN_PORT=tcp://10.0.0.1:7", "POINTSMAN_PORT_7_TCP_ADDR=10.0.0.1", "OTHER=x",
		})
	for _, want := range []string{
		`"admin":"from-environment:1"`, `"etcd-prefix":"/from-flag"`, `"listen":"[a:1,b:2]"`, `"version":"1.2.3"`,
		`"etcd-endpoints":"[https://root:xxxxx@etcd:2379]"`,
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("log lacks %s:\n%s", want, stderr)
		}
	}
	if strings.Contains(stderr, "secret") {
		t.Errorf("the log holds a secret:\n%s", stderr)
	}
}

func TestHelp(t *testing.T) {
	var out, errs bytes.Buffer
	if code := Main(t.Context(), "1.2.3", []string{"serve", "--help"}, nil, &out, &errs); code != 0 || errs.Len() > 0 {
		t.Fatalf("exit status %d, %s", code, &errs)
	}
	for _, want := range []string{"127.0.0.1:7080", "127.0.0.1:7081", "--data-dir", "--etcd-endpoints", "unix:/path"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("help lacks %q", want)
		}
	}
	out.Reset()
	if code := Main(t.Context(), "1.2.3", []string{"--version"}, nil, &out, &errs); code != 0 || !strings.Contains(out.String(), "1.2.3") {
		t.Errorf("--version: exit status %d, %q", code, &out)
	}
}

func TestDefaultDataDir(t *testing.T) {
	if os.Geteuid() == 0 {
		if got := defaultDataDir(nil); got != "/var/lib/pointsman" {
			t.Errorf("root: %q", got)
		}
		return
	}
	if got := defaultDataDir([]string{"HOME=/home/ann"}); got != "/home/ann/.local/state/pointsman" {
		t.Errorf("HOME: %q", got)
	}
	if got := defaultDataDir([]string{"HOME=/home/ann", "XDG_STATE_HOME=/state"}); got != "/state/pointsman" {
		t.Errorf("XDG_STATE_HOME: %q", got)
	}
}

func TestListen(t *testing.T) {
	first, err := listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	address := first.Addr().String()
	if _, err := listen(t.Context(), address); err == nil || !strings.Contains(err.Error(), address+": the port is taken") {
		t.Errorf("a taken port: %v", err)
	}
	if _, err := listenAll(t.Context(), []string{"127.0.0.1:0", address}); err == nil {
		t.Error("one of two addresses is taken, but both were opened")
	}

	socket := filepath.Join(t.TempDir(), "s")
	living, err := listen(t.Context(), "unix:"+socket)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := listen(t.Context(), "unix:"+socket); err == nil || !strings.Contains(err.Error(), "the socket is taken") {
		t.Errorf("a taken socket: %v", err)
	}
	living.(interface{ SetUnlinkOnClose(unlink bool) }).SetUnlinkOnClose(false) // as after kill -9
	if err := living.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := listen(t.Context(), "unix:"+socket)
	if err != nil {
		t.Fatalf("a socket that was left behind: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(socket, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := listen(t.Context(), "unix:"+socket); err == nil {
		t.Error("a file that is no socket was replaced")
	}
}

func TestTakeDataDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	held, err := takeDataDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, error %v, want 0700", info.Mode(), err)
	}
	if _, err := takeDataDir(dir); err == nil || !strings.Contains(err.Error(), "is in use by the server in process") {
		t.Errorf("a taken directory: %v", err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := takeDataDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}
