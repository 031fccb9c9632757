package e2e

import (
	"fmt"
	"net"
	"strconv"
	"sync"
	"testing"

	"github.com/pointsman/pointsman/gateway/mysqltest"
)

// reports are the servers that the public reports of docs/reports.md are tried on: a writer with @@server_id 1 and a
// read-only reader with 2, which do not replicate, and one gateway that all tests share.
type reports struct {
	writer, reader *mysqltest.Server
	server         *pointsman
	gateway        *gateway
	flags          []string // Of each gateway.
	own            map[string]*ownHostgroup
}

// ownHostgroup is what one test has for itself: a user, whose statements all go to its hostgroup.
type ownHostgroup struct {
	User           string
	Hostgroup      int
	BackendUser    string
	Ports          []int
	MaxConnections int
	TLS            bool

	writer, reader *link // nil without that server
}

// secureUser is a user of the servers that may log in by TLS only.
const secureUser = "secure"

// TestReports tries the public reports of docs/reports.md.
func TestReports(t *testing.T) {
	r := startReports(t)
	for _, tt := range []struct {
		name string
		run  func(*testing.T)
	}{
		// They look at the memory of their gateway and take some themselves: one after the other.
		{"03_fragments_before_login", r.Test03},
		{"04_fragments_of_change_user", r.Test04},
		{"05_large_inserts_at_once", r.Test05},
		{"06_slow_reader", r.Test06},
		{"40_rows_are_not_written_one_by_one", r.Test40},
	} {
		t.Run(tt.name, tt.run)
	}
	for _, tt := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"01_handshake_without_NUL", r.Test01},
		{"02_short_handshake", r.Test02},
		{"07_hang_at_16M", r.Test07},
		{"08_execute_without_types", r.Test08},
		{"09_long_data", r.Test09},
		{"10_two_cursors", r.Test10},
		{"11_metadata_after_ALTER", r.Test11},
		{"12_unknown_statement_id", r.Test12},
		{"13_last_id_and_pipelines", r.Test13},
		{"14_close_before_OK_is_read", r.Test14},
		{"15_many_prepared_statements", r.Test15},
		{"16_variables_stay_with_their_session", r.Test16},
		{"17_wait_timeout", r.Test17},
		{"18_transaction_isolation", r.Test18},
		{"19_state_set_out_of_sight", r.Test19},
		{"20_autocommit_off_and_savepoints", r.Test20},
		{"21_in_transaction_after_error", r.Test21},
		{"22_last_insert_id", r.Test22},
		{"23_found_rows", r.Test23},
		{"24_multi_statements", r.Test24},
		{"25_local_infile", r.Test25},
		{"26_kill", r.Test26},
		{"27_client_dies", r.Test27},
		{"28_stale_connections", r.Test28},
		{"29_read_only", r.Test29},
		{"30_retry_of_reads", r.Test30},
		{"31_broken_commit", r.Test31},
		{"32_errors_in_place", r.Test32},
		{"33_proxy_protocol", r.Test33},
		{"34_drain", r.Test34},
		{"35_server_dies_while_idle", r.Test35},
		{"36_frozen_server", r.Test36},
		{"37_silent_server", r.Test37},
		{"38_more_clients_than_connections", r.Test38},
		{"39_compression", r.Test39},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.run(t)
		})
	}
}

func startReports(t *testing.T) *reports {
	t.Helper()
	need(t, "MariaDB", mysqltest.Installed())
	authority := mysqltest.NewAuthority(t)
	_, cert, key := authority.Issue(t, "127.0.0.1")
	r := &reports{
		flags:  []string{"--server-tls-ca=" + authority.File},
		writer: mysqltest.Start(t, "--server-id=1", "--local-infile=1", "--ssl-cert="+cert, "--ssl-key="+key),
		reader: mysqltest.Start(t, "--server-id=2", "--local-infile=1", "--read-only"),
		own:    map[string]*ownHostgroup{},
	}
	for _, s := range []*mysqltest.Server{r.writer, r.reader} {
		s.Exec(t,
			"CREATE DATABASE "+schema,
			fmt.Sprintf("CREATE USER %s@'127.0.0.1' IDENTIFIED BY '%s'", appUser, password),
			fmt.Sprintf("CREATE USER %s@'127.0.0.1' IDENTIFIED BY '%s' REQUIRE SSL", secureUser, password),
			fmt.Sprintf("GRANT ALL ON %s.* TO %s@'127.0.0.1', %s@'127.0.0.1'", schema, appUser, secureUser),
			"CREATE TABLE e2e.n (a INT PRIMARY KEY)", "INSERT INTO e2e.n VALUES (1),(2),(3),(4),(5)",
			"CREATE TABLE e2e.blobs (id INT PRIMARY KEY AUTO_INCREMENT, b LONGBLOB)")
	}
	for i, user := range []string{"u15", "u24", "u28", "u31", "u32", "u35"} {
		r.addOwn(t, user, 100+i, true, false)
	}
	for i, user := range []string{"u30", "u36"} {
		r.addOwn(t, user, 200+i, true, true)
	}
	crowded := r.addOwn(t, "u38", 302, true, false)
	crowded.MaxConnections = 4
	secure := r.addOwn(t, "u26", 301, false, false)
	secure.Ports, secure.BackendUser, secure.TLS = []int{r.writer.Port}, secureUser, true
	r.addOwn(t, "u37", 300, false, false).Ports = []int{portOf(t, silentServer(t))}

	r.server = newPointsman(t)
	own := make([]*ownHostgroup, 0, len(r.own))
	for _, o := range r.own {
		own = append(own, o)
	}
	r.server.publish(t, configuration(t, "reports.yaml", map[string]any{
		"Writer": r.writer.Port, "Reader": r.reader.Port, "Own": own, "Password": password,
	}))
	r.gateway = newGateway(t, r.server, r.flags...)
	return r
}

// addOwn makes a hostgroup of links to the writer and the reader.
func (r *reports) addOwn(t *testing.T, user string, hostgroup int, writer, reader bool) *ownHostgroup {
	t.Helper()
	o := &ownHostgroup{User: user, Hostgroup: hostgroup, BackendUser: appUser, MaxConnections: 1000}
	if writer {
		o.writer = newLink(t, r.writer.Addr)
		o.Ports = append(o.Ports, portOf(t, o.writer.address))
	}
	if reader {
		o.reader = newLink(t, r.reader.Addr)
		o.Ports = append(o.Ports, portOf(t, o.reader.address))
	}
	r.own[user] = o
	return o
}

// silentServer accepts connections and says nothing.
func silentServer(t *testing.T) (address string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			defer func() { _ = nc.Close() }()
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		accepting.Wait()
	})
	return l.Addr().String()
}

func portOf(t *testing.T, address string) int {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// running waits until a server runs a statement, and gives its threads.
func running(t *testing.T, s *mysqltest.Server, like string, want int) (threads []int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d threads run %s", want, like), patience, func() (bool, string) {
		threads = runningNow(t, s, like)
		return len(threads) == want, fmt.Sprint("threads ", threads)
	})
	return threads
}

// runningNow gives the threads of a server that run a statement.
func runningNow(t *testing.T, s *mysqltest.Server, like string) (threads []int) {
	t.Helper()
	rows, err := s.DB.QueryContext(t.Context(), "SELECT id FROM information_schema.processlist WHERE user IN (?, ?) AND info LIKE ?", appUser, secureUser, like)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		threads = append(threads, id)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return threads
}
