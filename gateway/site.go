package gateway

import (
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/pointsman/pointsman/gateway/snapshot"
)

// site gives what routing guidelines see of this gateway, but for its listeners.
func (c *Config) site() (*snapshot.Site, error) {
	for flag, text := range map[string]string{"name": c.Name, "hostname": c.Hostname, "local-cluster": c.LocalCluster} {
		if !utf8.ValidString(text) {
			return nil, fmt.Errorf("flag --%s: its text is not UTF-8", flag)
		}
	}
	tags, err := snapshot.ParseTags(c.Tags)
	if err != nil {
		return nil, fmt.Errorf("flag --tags: %w", err)
	}
	host, _ := os.Hostname() // without one, guidelines see an empty text
	host = strings.ToValidUTF8(host, "\uFFFD")
	site := &snapshot.Site{Name: c.Name, Hostname: c.Hostname, LocalCluster: c.LocalCluster, Tags: tags}
	if site.Hostname == "" {
		site.Hostname = host
	}
	if site.Name == "" {
		site.Name = host
	}
	return site, nil
}
