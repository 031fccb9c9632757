package decision

import "github.com/pointsman/pointsman/decision/digest"

// The values of digest_mode.
const (
	digestModeCompatible = "compatible"
	digestModeCorrected  = "corrected"
)

// settings fills the defaults and checks the ranges; both are those of the API's Settings.
func (c *compiler) settings() {
	in := &c.cfg.Settings
	out := &c.g.settings
	at := row{list: "settings", index: -1, severity: Error}
	number := func(name string, p *uint32, def, low, high uint32) *uint32 {
		p = filled(p, def)
		c.inRange(at, name, int64(*p), int64(low), int64(high))
		return p
	}
	out.QueryDigests = filled(in.QueryDigests, true)
	out.QueryDigestsMaxQueryLength = number("query_digests_max_query_length", in.QueryDigestsMaxQueryLength, 65000, 16, 1<<20)
	out.QueryDigestsMaxDigestLength = number("query_digests_max_digest_length", in.QueryDigestsMaxDigestLength, 2048, 16, 1<<20)
	out.QueryDigestsLowercase = filled(in.QueryDigestsLowercase, false)
	out.QueryDigestsReplaceNull = filled(in.QueryDigestsReplaceNull, false)
	out.QueryDigestsNoDigits = filled(in.QueryDigestsNoDigits, false)
	out.QueryDigestsKeepComment = filled(in.QueryDigestsKeepComment, false)
	out.QueryDigestsGroupingLimit = number("query_digests_grouping_limit", in.QueryDigestsGroupingLimit, 3, 1, 2089)
	out.QueryDigestsGroupsGroupingLimit = number("query_digests_groups_grouping_limit", in.QueryDigestsGroupsGroupingLimit, 10, 0, 2089)
	out.QueryProcessorIterations = number("query_processor_iterations", in.QueryProcessorIterations, 0, 0, 1_000_000)
	out.QueryProcessorRegex = number("query_processor_regex", in.QueryProcessorRegex, 1, 1, 2)
	if *out.QueryProcessorRegex == 2 {
		c.warnf(at, "query_processor_regex", codeRegexEngineIgnored,
			"query_processor_regex is 2 (RE2), but expressions have PCRE's meaning here; set it to 1, and look at expressions that rely on RE2's Unicode letters")
	}
	out.QueryProcessorFirstCommentParsing = filled(in.QueryProcessorFirstCommentParsing, 2)
	if n := *out.QueryProcessorFirstCommentParsing; n != 0 && n != 2 {
		c.reportf(at, "query_processor_first_comment_parsing", codeOutOfRange,
			"query_processor_first_comment_parsing is %d; give 2 (annotations override rules) or 0 (they are not read); 1 and 3 of newer ProxySQL are not known here", n)
	}
	out.QueryRulesFastRoutingAlgorithm = number("query_rules_fast_routing_algorithm", in.QueryRulesFastRoutingAlgorithm, 1, 1, 2)
	out.DefaultSchema = filled(in.DefaultSchema, "information_schema")
	out.DefaultQueryDelay = number("default_query_delay", in.DefaultQueryDelay, 0, 0, 3_600_000)
	out.DefaultQueryTimeout = number("default_query_timeout", in.DefaultQueryTimeout, 86_400_000, 1000, 1_728_000_000)
	out.QueryRetriesOnFailure = number("query_retries_on_failure", in.QueryRetriesOnFailure, 1, 0, 1000)
	out.DefaultMaxLatencyMS = number("default_max_latency_ms", in.DefaultMaxLatencyMS, 1000, 1, 1_728_000_000)
	out.ConnectTimeoutServer = number("connect_timeout_server", in.ConnectTimeoutServer, 3000, 10, 120_000)
	out.ConnectTimeoutServerMax = number("connect_timeout_server_max", in.ConnectTimeoutServerMax, 10_000, 10, 3_600_000)
	out.ConnectRetriesOnFailure = number("connect_retries_on_failure", in.ConnectRetriesOnFailure, 10, 0, 1000)
	out.ServerVersion = filled(in.ServerVersion, "8.0.30")
	out.SetQueryLockOnHostgroup = number("set_query_lock_on_hostgroup", in.SetQueryLockOnHostgroup, 1, 0, 1)
	out.AutocommitFalseIsTransaction = filled(in.AutocommitFalseIsTransaction, true)
	out.LockOnHostgroupError = filled(in.LockOnHostgroupError, false)
	out.Multiplexing = filled(in.Multiplexing, false)
	out.AutoIncrementDelayMultiplex = number("auto_increment_delay_multiplex", in.AutoIncrementDelayMultiplex, 5, 0, 1_000_000)
	out.AutoIncrementDelayMultiplexTimeoutMS = number("auto_increment_delay_multiplex_timeout_ms", in.AutoIncrementDelayMultiplexTimeoutMS, 10_000, 0, 3_600_000)
	out.FreeConnectionsPct = number("free_connections_pct", in.FreeConnectionsPct, 10, 0, 100)
	out.ConnectionMaxAgeMS = number("connection_max_age_ms", in.ConnectionMaxAgeMS, 0, 0, 86_400_000)
	out.ConnectionMaxIdleMS = number("connection_max_idle_ms", in.ConnectionMaxIdleMS, 60_000, 0, 86_400_000)
	out.ConnectionWarming = filled(in.ConnectionWarming, false)
	out.ThrottleConnectionsPerSecToHostgroup = number("throttle_connections_per_sec_to_hostgroup", in.ThrottleConnectionsPerSecToHostgroup, 1_000_000, 1, 100_000_000)
	out.ConnectionQueueLength = number("connection_queue_length", in.ConnectionQueueLength, 1000, 0, 1_000_000)
	out.QueryCacheSizeMB = number("query_cache_size_mb", in.QueryCacheSizeMB, 256, 0, 1_048_576)
	out.QueryCacheStoresEmptyResult = filled(in.QueryCacheStoresEmptyResult, true)
	out.MirrorMaxConcurrency = number("mirror_max_concurrency", in.MirrorMaxConcurrency, 16, 1, 8192)
	out.MirrorMaxQueueLength = number("mirror_max_queue_length", in.MirrorMaxQueueLength, 32_000, 0, 1_048_576)
	out.WaitTimeout = number("wait_timeout", in.WaitTimeout, 28_800_000, 0, 1_728_000_000)

	out.DigestMode = filled(in.DigestMode, digestModeCompatible)
	if m := *out.DigestMode; m != digestModeCompatible && m != digestModeCorrected {
		c.reportf(at, "digest_mode", codeUnknownDigestMode,
			"digest_mode is %q; give %q (ProxySQL 2.7's digests) or %q (its known defects mended)", m, digestModeCompatible, digestModeCorrected)
	}

	c.g.digests = *out.QueryDigests
	c.g.annotations = *out.QueryProcessorFirstCommentParsing == 2
	c.g.iterations = *out.QueryProcessorIterations
	c.g.digestOptions = digest.Options{
		MaxQueryLength:      int(*out.QueryDigestsMaxQueryLength),
		MaxDigestLength:     int(*out.QueryDigestsMaxDigestLength),
		Lowercase:           *out.QueryDigestsLowercase,
		ReplaceNull:         *out.QueryDigestsReplaceNull,
		NoDigits:            *out.QueryDigestsNoDigits,
		KeepComment:         *out.QueryDigestsKeepComment,
		GroupingLimit:       int(*out.QueryDigestsGroupingLimit),
		GroupsGroupingLimit: int(*out.QueryDigestsGroupsGroupingLimit),
		Corrected:           *out.DigestMode == digestModeCorrected,
	}
}
