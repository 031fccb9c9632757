package gateway

import (
	"fmt"
	"io"
	"net/http"
	"text/tabwriter"

	"github.com/pointsman/pointsman/gateway/session"
)

// pool lists the connections to servers.
func (a *admin) pool(w http.ResponseWriter, r *http.Request) {
	for name := range r.URL.Query() {
		if name != "format" {
			http.Error(w, name+": known is format", http.StatusBadRequest)
			return
		}
	}
	state := a.gateway.PoolState()
	switch format := r.URL.Query().Get("format"); format {
	case "text":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_ = writePool(w, state) // the reader is gone, else
	case "", "json":
		writeJSON(w, state)
	default:
		http.Error(w, "format="+format+": it is json or text", http.StatusBadRequest)
	}
}

// writePool writes a table for people.
func writePool(w io.Writer, list []session.PoolServer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "HG\tSERVER\tONLINE\tUSED\tFREE\tMAX\tMAX_FREE\tWAITING")
	for i := range list {
		s := &list[i]
		fmt.Fprintf(t, "%d\t%s\t%t\t%d\t%d\t%d\t%d\t%d\n", s.Hostgroup, cell(s.Server), s.Online, s.Used, s.Free, s.MaxConnections, s.MaxFree, s.Waiting)
	}
	return t.Flush()
}
