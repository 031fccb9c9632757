package settings

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pointsman/pointsman/clients/document"
)

const envPrefix = "POINTSMAN_"

// foreign are variables with our prefix that are not for this program: those of the other daemon, the command-line tool
// and the quick start, and those that Kubernetes sets for a service that is called pointsman.
var foreign = regexp.MustCompile(`^POINTSMAN_(DATA_DIR|STORE|ETCD_.*|MONITOR_.*|RESOLVE_INTERVAL|DECISION(_TIMEOUT)?|STATE_DIR|MAX_CONNECTIONS|DRAIN_TIMEOUT` +
	`|SERVER|DEMO_.*|(.*_)?SERVICE_(HOST|PORT(_.*)?)|(.*_)?PORT(_[0-9]+_(TCP|UDP)(_.*)?)?)$`)

// Common are the settings that every daemon has.
type Common struct {
	File      string
	LogLevel  string
	LogFormat string
}

// AddFlags adds the flags of the common settings.
func (c *Common) AddFlags(f *pflag.FlagSet) {
	f.StringVar(&c.LogLevel, "log-level", "info", "debug, info, warn or error")
	f.StringVar(&c.LogFormat, "log-format", "text", "text or json")
	f.StringVar(&c.File, "settings", "", "YAML file with flags by name, e.g. \"log-level: warn\"")
}

// Complete fills in what the environment, in the form of os.Environ, and the settings file say.
func (c *Common) Complete(cmd *cobra.Command, environ []string) error {
	if err := fromEnvironment(cmd, environ); err != nil {
		return err
	}
	return fromFile(cmd.Flags(), c.File)
}

// Logger makes the logger and logs the settings in force; shown gives a flag's value without secrets.
func (c *Common) Logger(ctx context.Context, cmd *cobra.Command, stderr io.Writer, shown func(*pflag.Flag) string) (*slog.Logger, error) {
	log, err := newLogger(stderr, c.LogLevel, c.LogFormat)
	if err != nil {
		return nil, err
	}
	var attrs []any
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && f.Name != "version" {
			attrs = append(attrs, slog.String(f.Name, shown(f)))
		}
	})
	log.InfoContext(ctx, "settings", "command", cmd.Name(), "version", cmd.Root().Version, "pid", os.Getpid(), slog.Group("flags", attrs...))
	return log, nil
}

// fromEnvironment sets the flags that are not given from POINTSMAN_ variables. A variable that no command has a flag
// for is an error: most likely it is misspelt.
func fromEnvironment(cmd *cobra.Command, environ []string) error {
	known := make(map[string]bool)
	for _, c := range append(cmd.Root().Commands(), cmd) {
		c.Flags().VisitAll(func(f *pflag.Flag) { known[variable(f)] = f.Name != "help" && f.Name != "version" })
	}
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, envPrefix) && !known[name] && !foreign.MatchString(name) {
			return fmt.Errorf("environment variable %s: there is no such setting; known are %s",
				name, strings.Join(settingNames(known), ", "))
		}
	}
	var failed error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		value, ok := Lookup(environ, variable(f))
		if failed != nil || f.Changed || !ok || !known[variable(f)] {
			return
		}
		if err := cmd.Flags().Set(f.Name, value); err != nil {
			failed = fmt.Errorf("environment variable %s: %w", variable(f), err)
		}
	})
	return failed
}

func settingNames(known map[string]bool) []string {
	maps.DeleteFunc(known, func(_ string, isSetting bool) bool { return !isSetting })
	return slices.Sorted(maps.Keys(known))
}

func variable(f *pflag.Flag) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// Lookup finds a variable; as in a shell, the last entry of a name counts.
func Lookup(environ []string, name string) (string, bool) {
	for _, entry := range slices.Backward(environ) {
		if n, value, ok := strings.Cut(entry, "="); ok && n == name {
			return value, true
		}
	}
	return "", false
}

// fromFile sets the flags that are given neither on the command line nor in the environment.
func fromFile(flags *pflag.FlagSet, path string) error {
	if path == "" {
		return nil
	}
	raw, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return fmt.Errorf("flag --settings: %w", err)
	}
	doc, err := document.ToJSON(raw)
	if err != nil {
		return fmt.Errorf("settings %s: %w", path, err)
	}
	var values map[string]any
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	if err := dec.Decode(&values); err != nil {
		return fmt.Errorf("settings %s: %w", path, err)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		f := flags.Lookup(name)
		if f == nil || name == "settings" || name == "help" {
			return fmt.Errorf("settings %s: there is no setting %q", path, name)
		}
		if f.Changed {
			continue
		}
		value, err := flagValue(values[name])
		if err != nil {
			return fmt.Errorf("settings %s: %s: %w", path, name, err)
		}
		if err := flags.Set(name, value); err != nil {
			return fmt.Errorf("settings %s: %s: %w", path, name, err)
		}
	}
	return nil
}

// flagValue writes a YAML value as a flag has it: a list is separated by commas.
func flagValue(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool, json.Number:
		return fmt.Sprint(v), nil
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			s, ok := item.(string)
			if !ok {
				return "", fmt.Errorf("item %d is not a text", i+1)
			}
			items[i] = s
		}
		return strings.Join(items, ","), nil
	}
	return "", fmt.Errorf("%v is neither a text, a number, true or false, nor a list of texts", v)
}
