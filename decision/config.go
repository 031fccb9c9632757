package decision

// Config is one whole configuration as published, before it is compiled. Pointers and Optional values tell
// "absent" from a value; absent ones have ProxySQL's defaults, except that rules and users are active unless
// said otherwise.
type Config struct {
	Settings   Settings
	Hostgroups []Hostgroup
	Servers    []Server
	Users      []User
	QueryRules []QueryRule
	FastRoutes []FastRoute

	Guideline        string            // the document in force in JSON; empty: ActiveGuideline says which one is
	GuidelineBinding *GuidelineBinding // required with a guideline in force
	Guidelines       []StoredGuideline
	ActiveGuideline  string // the name of the one of Guidelines that is in force; empty: none
}

// Settings bear ProxySQL's variable names without "mysql-". Nil: the default.
type Settings struct {
	QueryDigests                         *bool
	QueryDigestsMaxQueryLength           *uint32
	QueryDigestsMaxDigestLength          *uint32
	QueryDigestsLowercase                *bool
	QueryDigestsReplaceNull              *bool
	QueryDigestsNoDigits                 *bool
	QueryDigestsKeepComment              *bool
	QueryDigestsGroupingLimit            *uint32
	QueryDigestsGroupsGroupingLimit      *uint32
	QueryProcessorIterations             *uint32
	QueryProcessorRegex                  *uint32
	QueryProcessorFirstCommentParsing    *uint32
	QueryRulesFastRoutingAlgorithm       *uint32
	DefaultSchema                        *string
	DefaultQueryDelay                    *uint32
	DefaultQueryTimeout                  *uint32
	QueryRetriesOnFailure                *uint32
	DefaultMaxLatencyMS                  *uint32
	ConnectTimeoutServer                 *uint32
	ConnectTimeoutServerMax              *uint32
	ConnectRetriesOnFailure              *uint32
	ServerVersion                        *string
	SetQueryLockOnHostgroup              *uint32
	DigestMode                           *string
	AutocommitFalseIsTransaction         *bool
	LockOnHostgroupError                 *bool
	Multiplexing                         *bool
	AutoIncrementDelayMultiplex          *uint32
	AutoIncrementDelayMultiplexTimeoutMS *uint32
	FreeConnectionsPct                   *uint32
	ConnectionMaxAgeMS                   *uint32
	ConnectionMaxIdleMS                  *uint32
	ConnectionWarming                    *bool
	ThrottleConnectionsPerSecToHostgroup *uint32
	ConnectionQueueLength                *uint32
	QueryCacheSizeMB                     *uint32
	QueryCacheStoresEmptyResult          *bool
	MirrorMaxConcurrency                 *uint32
	MirrorMaxQueueLength                 *uint32
	WaitTimeout                          *uint32
}

// Hostgroup holds the attributes of a hostgroup.
type Hostgroup struct {
	HostgroupID         int32
	MaxNumOnlineServers *uint32
	Comment             string

	// Nil: the setting of that name.
	Multiplex                 *bool
	FreeConnectionsPct        *uint32
	ConnectionWarming         *bool
	ThrottleConnectionsPerSec *uint32
}

// Server is one server of a hostgroup.
type Server struct {
	HostgroupID       int32
	Hostname          string
	Port              *uint32
	Status            *string
	Weight            *int64
	MaxConnections    *int64
	MaxReplicationLag *int64
	MaxLatencyMS      *int64
	UseSSL            bool
	Comment           string

	// What routing guidelines see of the server, the same in all rows of an address that say it.
	Label                *string // nil: the address
	UUID                 string
	Version              string  // "8.4.3" or "80403"; empty: unknown
	MemberRole           *string // nil: as the hostgroup says
	ClusterName          string
	ClusterSetName       string
	ClusterRole          *string // nil: UNDEFINED
	IsClusterInvalidated bool
	Tags                 map[string]string // the compact JSON text of each value, as TagTexts gives it
}

// User is a MySQL user.
type User struct {
	Username              string
	Password              *string
	Active                *bool
	DefaultHostgroup      int32
	DefaultSchema         string
	TransactionPersistent *bool
	FastForward           bool
	MaxConnections        *uint32
	BackendUsername       string
	BackendPassword       *string
	UseSSL                bool // only over TLS
	Comment               string
}

// QueryRule is a row of mysql_query_rules. Numbers are wide so that values out of range can be reported.
type QueryRule struct {
	RuleID               int64
	Active               *bool
	Username             string
	Schemaname           string
	FlagIn               int64
	ClientAddr           string
	ProxyAddr            string
	ProxyPort            *int64
	Digest               string
	MatchDigest          *string
	MatchPattern         *string
	NegateMatchPattern   bool
	ReModifiers          *string
	FlagOut              *int64
	ReplacePattern       *string
	DestinationHostgroup *int64
	CacheTTL             *int64
	CacheEmptyResult     *bool
	CacheTimeout         *int64
	Reconnect            *bool
	Timeout              *int64
	Retries              *int64
	Delay                *int64
	NextQueryFlagIn      *int64
	MirrorFlagOut        *int64
	MirrorHostgroup      *int64
	ErrorMsg             *string
	OKMsg                *string
	StickyConn           *bool
	Multiplex            *int64
	GTIDFromHostgroup    *int64
	Log                  *bool
	Apply                bool
	Attributes           string
	Comment              string
}

// FastRoute is a row of mysql_query_rules_fast_routing.
type FastRoute struct {
	Username             string
	Schemaname           string
	FlagIn               int64
	DestinationHostgroup int64
	Comment              string
}

// StoredGuideline is a routing guideline that may be put in force by its name.
type StoredGuideline struct {
	Name     string
	Document string // JSON
	Comment  string
}

// GuidelineBinding says which statements a guideline routes: those whose destination is one of its two hostgroups.
type GuidelineBinding struct {
	WriterHostgroup *int32 // required with a guideline in force
	ReaderHostgroup *int32 // required with a guideline in force; may be the same
	// Listeners are the modes of listeners by their name or port: "rw", "ro" or "rw_split". Listeners with one of these
	// names have that mode unless said otherwise.
	Listeners   map[string]string
	DefaultMode *string // of all other listeners; nil: "rw_split"
}
