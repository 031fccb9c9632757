package deploy

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// top is the folder that images are built from.
const top = ".."

// stage is a part of a container file, from one FROM to the next.
type stage struct {
	name, base string
	lines      []string
}

func readStages(t *testing.T, path string) []stage {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`\\\n\s*`).ReplaceAllString(string(raw), "")
	from := regexp.MustCompile(`^FROM (\S+) AS (\S+)$`)
	var stages []stage
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch m := from.FindStringSubmatch(line); {
		case m != nil:
			stages = append(stages, stage{base: m[1], name: m[2]})
		case line == "" || line[0] == '#':
		case len(stages) == 0:
			t.Fatalf("%s: %q comes before FROM", path, line)
		default:
			last := &stages[len(stages)-1]
			last.lines = append(last.lines, line)
		}
	}
	return stages
}

func TestContainerfile(t *testing.T) {
	stages := readStages(t, "container/Containerfile")
	names := make([]string, len(stages))
	for i, s := range stages {
		names[i] = s.name
	}
	if want := []string{"build", "pointsman", "pointsman-gateway"}; !slices.Equal(names, want) {
		t.Fatalf("stages are %q, want %q", names, want)
	}
	module, err := os.ReadFile(filepath.Join(top, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if version := strings.TrimPrefix(stages[0].base, "golang:"); !strings.Contains(string(module), "\ngo "+version) {
		t.Errorf("the image is built by %s, which is not the version of go.mod", stages[0].base)
	}
	for _, line := range stages[0].lines {
		words := strings.Fields(line)
		if words[0] != "COPY" {
			continue
		}
		for _, source := range words[1 : len(words)-1] {
			if _, err := os.Stat(filepath.Join(top, source)); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
	for _, s := range stages[1:] {
		if s.base != "scratch" {
			t.Errorf("%s is built on %s, want scratch", s.name, s.base)
		}
		if !slices.Contains(s.lines, "USER 65532:65532") {
			t.Errorf("%s has no user other than root", s.name)
		}
		if !slices.Contains(s.lines, `ENTRYPOINT ["/`+s.name+`"]`) {
			t.Errorf("%s does not start /%s", s.name, s.name)
		}
	}
}

func TestCompose(t *testing.T) {
	raw, err := os.ReadFile("compose/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Name     string `json:"name"`
		Services map[string]struct {
			Image string `json:"image"`
			Build struct {
				Context    string `json:"context"`
				Dockerfile string `json:"dockerfile"`
				Target     string `json:"target"`
			} `json:"build"`
			Restart         string            `json:"restart"`
			StopGracePeriod string            `json:"stop_grace_period"`
			ReadOnly        bool              `json:"read_only"`
			CapDrop         []string          `json:"cap_drop"`
			SecurityOpt     []string          `json:"security_opt"`
			Environment     map[string]string `json:"environment"`
			ExtraHosts      []string          `json:"extra_hosts"`
			Volumes         []string          `json:"volumes"`
			Ports           []string          `json:"ports"`
		} `json:"services"`
		Volumes map[string]any `json:"volumes"`
	}
	if err := yaml.UnmarshalStrict(raw, &doc); err != nil {
		t.Fatal(err)
	}
	images := make(map[string]stage)
	for _, s := range readStages(t, "container/Containerfile") {
		images[s.name] = s
	}
	for name, s := range doc.Services {
		file := filepath.Join("compose", s.Build.Context, s.Build.Dockerfile)
		if file != filepath.Clean("../deploy/container/Containerfile") {
			t.Errorf("%s is built from %s", name, file)
		}
		image, ok := images[s.Build.Target]
		if !ok {
			t.Errorf("%s is built as %q, which the container file does not have", name, s.Build.Target)
		}
		for _, v := range s.Volumes {
			volume, path, _ := strings.Cut(v, ":")
			if _, ok := doc.Volumes[volume]; !ok {
				t.Errorf("%s: volume %q is not declared", name, volume)
			}
			if !slices.Contains(image.lines, "VOLUME "+path) {
				t.Errorf("%s: the image has no volume at %s", name, path)
			}
		}
		expose := slices.IndexFunc(image.lines, func(line string) bool { return strings.HasPrefix(line, "EXPOSE ") })
		for _, p := range s.Ports {
			parts := strings.Split(p, ":")
			if len(parts) != 3 || parts[0] != "127.0.0.1" {
				t.Errorf("%s: port %s is open to more than this machine", name, p)
			} else if expose < 0 || !slices.Contains(strings.Fields(image.lines[expose]), parts[2]) {
				t.Errorf("%s: the image does not listen on %s", name, parts[2])
			}
		}
	}
}
