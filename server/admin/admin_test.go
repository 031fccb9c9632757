package admin_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pointsman/pointsman/server/admin"
	"github.com/pointsman/pointsman/server/metrics"
)

func TestPages(t *testing.T) {
	var notReady error
	server := admin.NewServer(metrics.New("test").Registry(), func() error { return notReady }, func() string { return "stale: why" })
	get := func(path string) (int, string) {
		w := httptest.NewRecorder()
		server.Handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
		return w.Code, w.Body.String()
	}
	for path, want := range map[string]string{
		"/":                         "/metrics",
		"/metrics":                  "pointsman_build_info",
		"/healthz":                  "ok",
		"/readyz":                   "ready\nconfiguration: stale: why\n",
		"/debug/pprof/":             "goroutine",
		"/debug/pprof/cmdline":      "",
		"/debug/pprof/heap?debug=1": "heap profile",
	} {
		if code, body := get(path); code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("GET %s: %d %.200q, want 200 with %q", path, code, body, want)
		}
	}
	if code, _ := get("/nothing"); code != http.StatusNotFound {
		t.Errorf("GET /nothing: %d, want 404", code)
	}
	notReady = errors.New("no generation is loaded")
	if code, body := get("/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "no generation") {
		t.Errorf("GET /readyz: %d %q, want 503 with the cause", code, body)
	}
}
