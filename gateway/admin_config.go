package gateway

import (
	"encoding/json"
	"net/http"

	"github.com/pointsman/pointsman/gateway/snapshot"
)

// shownConfig is what /config tells.
type shownConfig struct {
	Flags         map[string]string   `json:"flags"`
	Listeners     []snapshot.Listener `json:"listeners"`
	Decision      decisionState       `json:"decision"`
	Generation    uint64              `json:"generation"` // of the configuration in force; 0: there is none
	Newest        uint64              `json:"newest_generation"`
	Configuration json.RawMessage     `json:"configuration"`
}

type decisionState struct {
	Servers   []string `json:"servers"`
	Connected bool     `json:"connected"` // the stream of questions is open
	Up        bool     `json:"up"`        // the service answers
}

// config shows what is in force.
func (a *admin) config(w http.ResponseWriter, _ *http.Request) {
	shown := shownConfig{
		Flags:     a.cfg.inForce,
		Listeners: a.gateway.Snapshots.Site().Listeners,
		Decision: decisionState{
			Servers: a.cfg.Decision, Connected: a.decisions.Connected(), Up: a.gateway.Router.Up(),
		},
		Newest: a.gateway.Router.Newest(),
	}
	if snap := a.gateway.Snapshots.Current(); snap != nil {
		var err error
		if shown.Configuration, err = snap.Show(); err != nil {
			http.Error(w, "show the configuration: "+err.Error(), http.StatusInternalServerError)
			return
		}
		shown.Generation = snap.Generation
	}
	writeJSON(w, shown)
}
