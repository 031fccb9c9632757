package embedded

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEndpoint(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", "/var/tmp")
	short := filepath.Join("/var/tmp", "pointsman-")
	for dir, wantPrefix := range map[string]string{
		"/var/lib/pointsman":            "unix:///var/lib/pointsman/store/client.sock",
		"/var/lib/pointsman/":           "unix:///var/lib/pointsman/store/client.sock",
		"/data with space":              "unix://" + short,
		"/100%41":                       "unix://" + short,
		"/" + strings.Repeat("x/", 60):  "unix://" + short,
		"/" + strings.Repeat("ab/", 27): "unix:///ab/ab/",
	} {
		got := Endpoint(dir)
		if !strings.HasPrefix(got, wantPrefix) || len(got)-len("unix://") > maxSocketPath {
			t.Errorf("%s: %s", dir, got)
		}
	}
	if Endpoint("/a b") == Endpoint("/a  b") {
		t.Error("two directories share a socket")
	}
	t.Setenv("TMPDIR", "/"+strings.Repeat("long/", 30))
	if got := Endpoint("/a b"); !strings.HasPrefix(got, "unix:///tmp/pointsman-") {
		t.Error(got)
	}
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got := Endpoint("rel"); got != "unix://"+filepath.Join(wd, "rel/store/client.sock") {
		t.Error(got)
	}
}

func TestMakePrivate(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "dir")
	for range 2 {
		if err := makePrivate(dir); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Error(info.Mode(), err)
	}
	link := filepath.Join(root, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wide := filepath.Join(root, "wide")
	if err := os.Mkdir(wide, 0o750); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, file, wide} {
		if err := makePrivate(path); err == nil {
			t.Errorf("%s was accepted", path)
		}
	}
}
