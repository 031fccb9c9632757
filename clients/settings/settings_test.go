package settings_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pointsman/pointsman/clients/settings"
)

// complete runs a command with some flags and gives their values.
func complete(t *testing.T, args, environ []string, file string) (values map[string]string, log string, err error) {
	t.Helper()
	var c settings.Common
	var errs bytes.Buffer
	values = map[string]string{}
	cmd := &cobra.Command{Use: "try", SilenceErrors: true, SilenceUsage: true, RunE: func(cmd *cobra.Command, _ []string) error {
		if err := c.Complete(cmd, environ); err != nil {
			return err
		}
		_, err := c.Logger(t.Context(), cmd, &errs, func(f *pflag.Flag) string {
			values[f.Name] = f.Value.String()
			return f.Value.String()
		})
		return err
	}}
	c.AddFlags(cmd.Flags())
	cmd.Flags().Int("max-connections", 1, "")
	cmd.Flags().StringSlice("listen", nil, "")
	cmd.Flags().Duration("drain-timeout", 0, "")
	if file != "" {
		path := filepath.Join(t.TempDir(), "settings.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--settings", path)
	}
	cmd.SetArgs(args)
	err = cmd.ExecuteContext(t.Context())
	return values, errs.String(), err
}

func TestPrecedence(t *testing.T) {
	values, log, err := complete(t,
		[]string{"--log-level", "warn"},
		[]string{"POINTSMAN_LOG_LEVEL=debug", "POINTSMAN_MAX_CONNECTIONS=5", "POINTSMAN_DECISION=x:1", "PATH=/bin"},
		"log-level: error\nmax-connections: 7\ndrain-timeout: 3s\nlisten: [a:1, b:2]\nlog-format: json\n")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"log-level": "warn", "max-connections": "5", "drain-timeout": "3s", "listen": "[a:1,b:2]", "log-format": "json"}
	for name, v := range want {
		if values[name] != v {
			t.Errorf("%s is %q, want %q", name, values[name], v)
		}
	}
	if log != "" {
		t.Errorf("logged below the level: %s", log)
	}
	if values, _, err := complete(t, nil, nil, "max-connections: 7\n"); err != nil || values["max-connections"] != "7" {
		t.Errorf("a number in the file: %v, %v", values, err)
	}
}

func TestMistakes(t *testing.T) {
	for _, tt := range []struct {
		environ []string
		file    string
		want    string
	}{
		{[]string{"POINTSMAN_LISTENN=x"}, "", "environment variable POINTSMAN_LISTENN: there is no such setting; known are"},
		{[]string{"POINTSMAN_HELP=1"}, "", "POINTSMAN_HELP: there is no such setting"},
		{[]string{"POINTSMAN_MAX_CONNECTIONS=many"}, "", "environment variable POINTSMAN_MAX_CONNECTIONS: "},
		{[]string{"POINTSMAN_LOG_LEVEL=loud"}, "", `"loud" is none of debug, info, warn, error`},
		{nil, "colour: red\n", `there is no setting "colour"`},
		{nil, "max-connections: many\n", "max-connections: "},
		{nil, "listen: {a: b}\n", "listen: map[a:b] is neither a text"},
		{nil, "listen: [1]\n", "listen: item 1 is not a text"},
		{nil, "listen: [\n", "settings "},
	} {
		if _, _, err := complete(t, nil, tt.environ, tt.file); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, %q: %v, want %q", tt.environ, tt.file, err, tt.want)
		}
	}
}
