package gateway

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pointsman/pointsman/gateway/session"
)

// sessions lists client connections.
func (a *admin) sessions(w http.ResponseWriter, r *http.Request) {
	filter, text, err := sessionsQuery(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	list := a.gateway.List(filter)
	if text {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_ = writeSessions(w, list) // the reader is gone, else
		return
	}
	writeJSON(w, list)
}

// sessionsQuery reads what is asked for.
func sessionsQuery(q url.Values) (f session.Filter, text bool, err error) {
	for name := range q {
		value := q.Get(name)
		switch name {
		case "format":
			if text = value == "text"; !text && value != "json" {
				return f, false, fmt.Errorf("format=%s: it is json or text", value)
			}
		case "user":
			f.User = value
		case "hostgroup":
			n, err := strconv.ParseInt(value, 10, 32)
			if err != nil {
				return f, false, fmt.Errorf("hostgroup=%s: it is a number", value)
			}
			f.Hostgroup = new(int32(n))
		case "state":
			state, _, _ := strings.Cut(value, ":")
			if !slices.Contains(session.States(), state) {
				return f, false, fmt.Errorf("state=%s: the states are %s", value, strings.Join(session.States(), ", "))
			}
			f.State = value
		default:
			return f, false, fmt.Errorf("%s: known are format, user, hostgroup, state", name)
		}
	}
	return f, text, nil
}

// writeSessions writes a table for people.
func writeSessions(w io.Writer, list []session.Info) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tUSER\tCLIENT\tLISTENER\tSCHEMA\tHG\tSERVER\tTHREAD\tSTATE\tTIME\tTRX\tSTATEMENTS\tIN\tOUT\tDIGEST\tTEXT")
	for i := range list {
		s := &list[i]
		hostgroup, thread, transaction := "-", "-", "-"
		if s.Hostgroup != nil {
			hostgroup, thread = strconv.Itoa(int(*s.Hostgroup)), strconv.FormatUint(uint64(s.ServerThread), 10)
		}
		if s.TransactionSeconds > 0 {
			transaction = seconds(s.TransactionSeconds)
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t%d\t%s\t%s\n",
			s.ID, cell(s.User), cell(s.Client), s.Listener, cell(s.Schema), hostgroup, cell(s.Server), thread, s.State, seconds(s.Seconds), transaction,
			s.Statements, s.Received, s.Sent, cell(s.Digest), cell(short(s.DigestText)))
	}
	return t.Flush()
}

func seconds(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(time.Millisecond).String()
}

// maxShown is how much of a digest text a line of the table has room for, in characters.
const maxShown = 100

func short(text string) string {
	if r := []rune(text); len(r) > maxShown {
		return string(r[:maxShown]) + "..."
	}
	return text
}

// cell gives a text that can't break the table; - stands for an empty one.
func cell(text string) string {
	if text == "" {
		return "-"
	}
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}
