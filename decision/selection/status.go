package selection

import (
	"fmt"
	"strings"
)

// Status is the status of a server, in ProxySQL's words.
type Status uint8

// The statuses. Only an Online server is drawn; see [Candidate] for how a Shunned one comes back.
const (
	Online Status = iota
	Shunned
	OfflineSoft
	OfflineHard
	ShunnedReplicationLag
)

var statusNames = [...]string{"ONLINE", "SHUNNED", "OFFLINE_SOFT", "OFFLINE_HARD", "SHUNNED_REPLICATION_LAG"}

// ParseStatus reads a status, in any case. An empty text is ONLINE, the default of mysql_servers.
func ParseStatus(s string) (Status, error) {
	if s == "" {
		return Online, nil
	}
	for i, name := range statusNames {
		if strings.EqualFold(s, name) {
			return Status(i), nil
		}
	}
	return 0, fmt.Errorf("status %q: want ONLINE, SHUNNED, OFFLINE_SOFT, OFFLINE_HARD or SHUNNED_REPLICATION_LAG", s)
}

// String gives ProxySQL's word.
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("status %d", uint8(s))
}
