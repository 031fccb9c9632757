package selection

// MaxWeight is the largest weight of a server, as in mysql_servers.
const MaxWeight = 10_000_000

// Candidate is one server as the caller sees it at the moment of a draw.
//
// A Shunned server with ShunnedAutomatic set comes back by itself once no error has been seen for some time
// ([Limits].ShunRecoveryTimeSec, and a tenth of it when there is nobody else). A server that an operator has shunned
// does not.
type Candidate struct {
	Weight uint32 // 0..MaxWeight; 0 is never drawn
	Status Status

	CurrentConnections uint32 // in use
	MaxConnections     uint32 // must be above CurrentConnections; 0 is never drawn

	CurrentReplicationLag int64  // s; negative: unknown, passes
	MaxReplicationLag     uint32 // s; a lag above is out, equal is fine; 0: no limit

	CurrentLatencyUS uint64 // us; 0: unknown, passes
	MaxLatencyUS     uint64 // us; the latency must be below; 0: Limits.DefaultMaxLatencyMS

	LagMS       int64  // ms, rounded down, compared with Limits.MaxLagMS; negative: unknown, passes
	AuroraLagUS uint64 // us; 0: the writer of an Aurora cluster, or no Aurora

	ShunnedAutomatic bool   // Shunned because of errors or missed pings
	KillAll          bool   // with ShunnedAutomatic: comes back only without connections, in use or free
	ConnsFree        uint32 // pooled connections not in use
	LastErrorSec     int64  // s since 1970 of the last error
}

// Limits are the settings, hostgroup attributes and demands that candidates are held against. Take [DefaultLimits]
// and change what is known: with the zero Limits no server is eligible.
type Limits struct {
	DefaultMaxLatencyMS uint32 // the setting default_max_latency_ms
	MaxNumOnlineServers uint32 // the hostgroup attribute: with more servers ONLINE, none is eligible

	HasMaxLag bool
	MaxLagMS  uint32 // with HasMaxLag: the largest LagMS, as a statement's max_lag_ms demands

	NowSec                    int64  // s since 1970
	ShunRecoveryTimeSec       uint32 // the setting shun_recovery_time_sec; 0: only when there is nobody else
	ConnectTimeoutServerMaxMS uint32 // the setting connect_timeout_server_max, which also bounds the recovery time

	// AuroraReplicas is the setting aurora_max_lag_ms_only_read_from_replicas: with a MaxLagMS above 0 and at least so
	// many candidates, one of which lags, the writer is left out. 0: never.
	AuroraReplicas uint32
	// LatencyAwareness is the setting min_num_servers_lantency_awareness: with at least so many candidates, all of
	// known latency, those above the mean are left out. 0: never.
	LatencyAwareness uint32
}

// DefaultLimits are ProxySQL's defaults, at the time 0 and without a demand on lag.
func DefaultLimits() Limits {
	return Limits{
		DefaultMaxLatencyMS:       1000,
		MaxNumOnlineServers:       1_000_000,
		ShunRecoveryTimeSec:       10,
		ConnectTimeoutServerMaxMS: 10_000,
		AuroraReplicas:            2,
		LatencyAwareness:          1000,
	}
}

// wait gives the whole seconds without an error that must be exceeded before a shunned server comes back: the
// recovery time, kept below the time that a client waits for a connection, or a part of that.
func (l *Limits) wait(part int64) int64 {
	wait := int64(l.ShunRecoveryTimeSec) / part
	if int64(l.ShunRecoveryTimeSec)*1000 >= int64(l.ConnectTimeoutServerMaxMS) {
		wait = int64(l.ConnectTimeoutServerMaxMS)/(1000*part) - 1
	}
	return max(wait, 1)
}
