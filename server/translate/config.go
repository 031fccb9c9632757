package translate

import (
	"github.com/pointsman/pointsman/decision"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// ConfigFromProto gives the core's form of a configuration. It shares memory with cfg, which must not change
// afterwards.
func ConfigFromProto(cfg *configv1.Config) *decision.Config {
	return &decision.Config{
		Settings:   settingsFromProto(cfg.GetSettings()),
		Hostgroups: each(cfg.GetHostgroups(), hostgroupFromProto),
		Servers:    each(cfg.GetServers(), serverFromProto),
		Users:      each(cfg.GetUsers(), userFromProto),
		QueryRules: each(cfg.GetQueryRules(), ruleFromProto),
		FastRoutes: each(cfg.GetFastRoutes(), fastRouteFromProto),

		Guideline:        cfg.GetGuideline(),
		GuidelineBinding: bindingFromProto(cfg.GetGuidelineBinding()),
		Guidelines:       each(cfg.GetGuidelines(), storedGuidelineFromProto),
		ActiveGuideline:  cfg.GetActiveGuideline(),
	}
}

// ConfigToProto is ConfigFromProto's reverse. It shares memory with cfg.
func ConfigToProto(cfg *decision.Config) *configv1.Config {
	return &configv1.Config{
		Settings:   SettingsToProto(&cfg.Settings),
		Hostgroups: eachRef(cfg.Hostgroups, hostgroupToProto),
		Servers:    eachRef(cfg.Servers, serverToProto),
		Users:      eachRef(cfg.Users, userToProto),
		QueryRules: eachRef(cfg.QueryRules, ruleToProto),
		FastRoutes: eachRef(cfg.FastRoutes, fastRouteToProto),

		Guideline:        cfg.Guideline,
		GuidelineBinding: BindingToProto(cfg.GuidelineBinding),
		Guidelines:       eachRef(cfg.Guidelines, storedGuidelineToProto),
		ActiveGuideline:  cfg.ActiveGuideline,
	}
}

func each[P, V any](in []*P, f func(*P) V) []V {
	if len(in) == 0 {
		return nil
	}
	out := make([]V, len(in))
	for i, p := range in {
		out[i] = f(p)
	}
	return out
}

func eachRef[P, V any](in []V, f func(*V) *P) []*P {
	if len(in) == 0 {
		return nil
	}
	out := make([]*P, len(in))
	for i := range in {
		out[i] = f(&in[i])
	}
	return out
}

func settingsFromProto(s *configv1.Settings) decision.Settings {
	if s == nil {
		return decision.Settings{}
	}
	return decision.Settings{
		QueryDigests:                         s.QueryDigests,
		QueryDigestsMaxQueryLength:           s.QueryDigestsMaxQueryLength,
		QueryDigestsMaxDigestLength:          s.QueryDigestsMaxDigestLength,
		QueryDigestsLowercase:                s.QueryDigestsLowercase,
		QueryDigestsReplaceNull:              s.QueryDigestsReplaceNull,
		QueryDigestsNoDigits:                 s.QueryDigestsNoDigits,
		QueryDigestsKeepComment:              s.QueryDigestsKeepComment,
		QueryDigestsGroupingLimit:            s.QueryDigestsGroupingLimit,
		QueryDigestsGroupsGroupingLimit:      s.QueryDigestsGroupsGroupingLimit,
		QueryProcessorIterations:             s.QueryProcessorIterations,
		QueryProcessorRegex:                  s.QueryProcessorRegex,
		QueryProcessorFirstCommentParsing:    s.QueryProcessorFirstCommentParsing,
		QueryRulesFastRoutingAlgorithm:       s.QueryRulesFastRoutingAlgorithm,
		DefaultSchema:                        s.DefaultSchema,
		DefaultQueryDelay:                    s.DefaultQueryDelay,
		DefaultQueryTimeout:                  s.DefaultQueryTimeout,
		QueryRetriesOnFailure:                s.QueryRetriesOnFailure,
		DefaultMaxLatencyMS:                  s.DefaultMaxLatencyMs,
		ConnectTimeoutServer:                 s.ConnectTimeoutServer,
		ConnectTimeoutServerMax:              s.ConnectTimeoutServerMax,
		ConnectRetriesOnFailure:              s.ConnectRetriesOnFailure,
		ServerVersion:                        s.ServerVersion,
		SetQueryLockOnHostgroup:              s.SetQueryLockOnHostgroup,
		DigestMode:                           s.DigestMode,
		AutocommitFalseIsTransaction:         s.AutocommitFalseIsTransaction,
		LockOnHostgroupError:                 s.LockOnHostgroupError,
		Multiplexing:                         s.Multiplexing,
		AutoIncrementDelayMultiplex:          s.AutoIncrementDelayMultiplex,
		AutoIncrementDelayMultiplexTimeoutMS: s.AutoIncrementDelayMultiplexTimeoutMs,
		FreeConnectionsPct:                   s.FreeConnectionsPct,
		ConnectionMaxAgeMS:                   s.ConnectionMaxAgeMs,
		ConnectionMaxIdleMS:                  s.ConnectionMaxIdleMs,
		ConnectionWarming:                    s.ConnectionWarming,
		ThrottleConnectionsPerSecToHostgroup: s.ThrottleConnectionsPerSecToHostgroup,
		ConnectionQueueLength:                s.ConnectionQueueLength,
		QueryCacheSizeMB:                     s.QueryCacheSizeMb,
		QueryCacheStoresEmptyResult:          s.QueryCacheStoresEmptyResult,
		MirrorMaxConcurrency:                 s.MirrorMaxConcurrency,
		MirrorMaxQueueLength:                 s.MirrorMaxQueueLength,
		WaitTimeout:                          s.WaitTimeout,
	}
}

// SettingsToProto gives the API's form of settings; nil when none is given.
func SettingsToProto(v *decision.Settings) *configv1.Settings {
	if *v == (decision.Settings{}) {
		return nil
	}
	return &configv1.Settings{
		QueryDigests:                         v.QueryDigests,
		QueryDigestsMaxQueryLength:           v.QueryDigestsMaxQueryLength,
		QueryDigestsMaxDigestLength:          v.QueryDigestsMaxDigestLength,
		QueryDigestsLowercase:                v.QueryDigestsLowercase,
		QueryDigestsReplaceNull:              v.QueryDigestsReplaceNull,
		QueryDigestsNoDigits:                 v.QueryDigestsNoDigits,
		QueryDigestsKeepComment:              v.QueryDigestsKeepComment,
		QueryDigestsGroupingLimit:            v.QueryDigestsGroupingLimit,
		QueryDigestsGroupsGroupingLimit:      v.QueryDigestsGroupsGroupingLimit,
		QueryProcessorIterations:             v.QueryProcessorIterations,
		QueryProcessorRegex:                  v.QueryProcessorRegex,
		QueryProcessorFirstCommentParsing:    v.QueryProcessorFirstCommentParsing,
		QueryRulesFastRoutingAlgorithm:       v.QueryRulesFastRoutingAlgorithm,
		DefaultSchema:                        v.DefaultSchema,
		DefaultQueryDelay:                    v.DefaultQueryDelay,
		DefaultQueryTimeout:                  v.DefaultQueryTimeout,
		QueryRetriesOnFailure:                v.QueryRetriesOnFailure,
		DefaultMaxLatencyMs:                  v.DefaultMaxLatencyMS,
		ConnectTimeoutServer:                 v.ConnectTimeoutServer,
		ConnectTimeoutServerMax:              v.ConnectTimeoutServerMax,
		ConnectRetriesOnFailure:              v.ConnectRetriesOnFailure,
		ServerVersion:                        v.ServerVersion,
		SetQueryLockOnHostgroup:              v.SetQueryLockOnHostgroup,
		DigestMode:                           v.DigestMode,
		AutocommitFalseIsTransaction:         v.AutocommitFalseIsTransaction,
		LockOnHostgroupError:                 v.LockOnHostgroupError,
		Multiplexing:                         v.Multiplexing,
		AutoIncrementDelayMultiplex:          v.AutoIncrementDelayMultiplex,
		AutoIncrementDelayMultiplexTimeoutMs: v.AutoIncrementDelayMultiplexTimeoutMS,
		FreeConnectionsPct:                   v.FreeConnectionsPct,
		ConnectionMaxAgeMs:                   v.ConnectionMaxAgeMS,
		ConnectionMaxIdleMs:                  v.ConnectionMaxIdleMS,
		ConnectionWarming:                    v.ConnectionWarming,
		ThrottleConnectionsPerSecToHostgroup: v.ThrottleConnectionsPerSecToHostgroup,
		ConnectionQueueLength:                v.ConnectionQueueLength,
		QueryCacheSizeMb:                     v.QueryCacheSizeMB,
		QueryCacheStoresEmptyResult:          v.QueryCacheStoresEmptyResult,
		MirrorMaxConcurrency:                 v.MirrorMaxConcurrency,
		MirrorMaxQueueLength:                 v.MirrorMaxQueueLength,
		WaitTimeout:                          v.WaitTimeout,
	}
}

func hostgroupFromProto(p *configv1.Hostgroup) decision.Hostgroup {
	return decision.Hostgroup{
		HostgroupID:         p.GetHostgroupId(),
		MaxNumOnlineServers: p.MaxNumOnlineServers,
		Comment:             p.GetComment(),
		Multiplex:           p.Multiplex, FreeConnectionsPct: p.FreeConnectionsPct, ConnectionWarming: p.ConnectionWarming,
		ThrottleConnectionsPerSec: p.ThrottleConnectionsPerSec,
	}
}

func hostgroupToProto(v *decision.Hostgroup) *configv1.Hostgroup {
	return &configv1.Hostgroup{
		HostgroupId:         v.HostgroupID,
		MaxNumOnlineServers: v.MaxNumOnlineServers,
		Comment:             v.Comment,
		Multiplex:           v.Multiplex, FreeConnectionsPct: v.FreeConnectionsPct, ConnectionWarming: v.ConnectionWarming,
		ThrottleConnectionsPerSec: v.ThrottleConnectionsPerSec,
	}
}

func serverFromProto(p *configv1.Server) decision.Server {
	return decision.Server{
		HostgroupID:       p.GetHostgroupId(),
		Hostname:          p.GetHostname(),
		Port:              p.Port,
		Status:            p.Status,
		Weight:            p.Weight,
		MaxConnections:    p.MaxConnections,
		MaxReplicationLag: p.MaxReplicationLag,
		MaxLatencyMS:      p.MaxLatencyMs,
		UseSSL:            p.GetUseSsl(),
		Comment:           p.GetComment(),

		Label:                p.Label,
		UUID:                 p.GetUuid(),
		Version:              p.GetVersion(),
		MemberRole:           p.MemberRole,
		ClusterName:          p.GetClusterName(),
		ClusterSetName:       p.GetClusterSetName(),
		ClusterRole:          p.ClusterRole,
		IsClusterInvalidated: p.GetIsClusterInvalidated(),
		Tags:                 decision.TagTexts(p.GetTags().AsMap()),
	}
}

func serverToProto(v *decision.Server) *configv1.Server {
	return &configv1.Server{
		HostgroupId:       v.HostgroupID,
		Hostname:          v.Hostname,
		Port:              v.Port,
		Status:            v.Status,
		Weight:            v.Weight,
		MaxConnections:    v.MaxConnections,
		MaxReplicationLag: v.MaxReplicationLag,
		MaxLatencyMs:      v.MaxLatencyMS,
		UseSsl:            v.UseSSL,
		Comment:           v.Comment,

		Label:                v.Label,
		Uuid:                 v.UUID,
		Version:              v.Version,
		MemberRole:           v.MemberRole,
		ClusterName:          v.ClusterName,
		ClusterSetName:       v.ClusterSetName,
		ClusterRole:          v.ClusterRole,
		IsClusterInvalidated: v.IsClusterInvalidated,
		Tags:                 tagsToProto(v.Tags),
	}
}

func userFromProto(p *configv1.User) decision.User {
	return decision.User{
		Username:              p.GetUsername(),
		Password:              p.Password,
		Active:                p.Active,
		DefaultHostgroup:      p.GetDefaultHostgroup(),
		DefaultSchema:         p.GetDefaultSchema(),
		TransactionPersistent: p.TransactionPersistent,
		FastForward:           p.GetFastForward(),
		MaxConnections:        p.MaxConnections,
		BackendUsername:       p.GetBackendUsername(),
		BackendPassword:       p.BackendPassword,
		UseSSL:                p.GetUseSsl(),
		Comment:               p.GetComment(),
	}
}

func userToProto(v *decision.User) *configv1.User {
	return &configv1.User{
		Username:              v.Username,
		Password:              v.Password,
		Active:                v.Active,
		DefaultHostgroup:      v.DefaultHostgroup,
		DefaultSchema:         v.DefaultSchema,
		TransactionPersistent: v.TransactionPersistent,
		FastForward:           v.FastForward,
		MaxConnections:        v.MaxConnections,
		BackendUsername:       v.BackendUsername,
		BackendPassword:       v.BackendPassword,
		UseSsl:                v.UseSSL,
		Comment:               v.Comment,
	}
}

func ruleFromProto(p *configv1.QueryRule) decision.QueryRule {
	return decision.QueryRule{
		RuleID:               p.GetRuleId(),
		Active:               p.Active,
		Username:             p.GetUsername(),
		Schemaname:           p.GetSchemaname(),
		FlagIn:               p.GetFlagIn(),
		ClientAddr:           p.GetClientAddr(),
		ProxyAddr:            p.GetProxyAddr(),
		ProxyPort:            p.ProxyPort,
		Digest:               p.GetDigest(),
		MatchDigest:          p.MatchDigest,
		MatchPattern:         p.MatchPattern,
		NegateMatchPattern:   p.GetNegateMatchPattern(),
		ReModifiers:          p.ReModifiers,
		FlagOut:              p.FlagOut,
		ReplacePattern:       p.ReplacePattern,
		DestinationHostgroup: p.DestinationHostgroup,
		CacheTTL:             p.CacheTtl,
		CacheEmptyResult:     p.CacheEmptyResult,
		CacheTimeout:         p.CacheTimeout,
		Reconnect:            p.Reconnect,
		Timeout:              p.Timeout,
		Retries:              p.Retries,
		Delay:                p.Delay,
		NextQueryFlagIn:      p.NextQueryFlagIn,
		MirrorFlagOut:        p.MirrorFlagOut,
		MirrorHostgroup:      p.MirrorHostgroup,
		ErrorMsg:             p.ErrorMsg,
		OKMsg:                p.OkMsg,
		StickyConn:           p.StickyConn,
		Multiplex:            p.Multiplex,
		GTIDFromHostgroup:    p.GtidFromHostgroup,
		Log:                  p.Log,
		Apply:                p.GetApply(),
		Attributes:           p.GetAttributes(),
		Comment:              p.GetComment(),
	}
}

func ruleToProto(v *decision.QueryRule) *configv1.QueryRule {
	return &configv1.QueryRule{
		RuleId:               v.RuleID,
		Active:               v.Active,
		Username:             v.Username,
		Schemaname:           v.Schemaname,
		FlagIn:               v.FlagIn,
		ClientAddr:           v.ClientAddr,
		ProxyAddr:            v.ProxyAddr,
		ProxyPort:            v.ProxyPort,
		Digest:               v.Digest,
		MatchDigest:          v.MatchDigest,
		MatchPattern:         v.MatchPattern,
		NegateMatchPattern:   v.NegateMatchPattern,
		ReModifiers:          v.ReModifiers,
		FlagOut:              v.FlagOut,
		ReplacePattern:       v.ReplacePattern,
		DestinationHostgroup: v.DestinationHostgroup,
		CacheTtl:             v.CacheTTL,
		CacheEmptyResult:     v.CacheEmptyResult,
		CacheTimeout:         v.CacheTimeout,
		Reconnect:            v.Reconnect,
		Timeout:              v.Timeout,
		Retries:              v.Retries,
		Delay:                v.Delay,
		NextQueryFlagIn:      v.NextQueryFlagIn,
		MirrorFlagOut:        v.MirrorFlagOut,
		MirrorHostgroup:      v.MirrorHostgroup,
		ErrorMsg:             v.ErrorMsg,
		OkMsg:                v.OKMsg,
		StickyConn:           v.StickyConn,
		Multiplex:            v.Multiplex,
		GtidFromHostgroup:    v.GTIDFromHostgroup,
		Log:                  v.Log,
		Apply:                v.Apply,
		Attributes:           v.Attributes,
		Comment:              v.Comment,
	}
}

func fastRouteFromProto(p *configv1.FastRoute) decision.FastRoute {
	return decision.FastRoute{
		Username:             p.GetUsername(),
		Schemaname:           p.GetSchemaname(),
		FlagIn:               p.GetFlagIn(),
		DestinationHostgroup: p.GetDestinationHostgroup(),
		Comment:              p.GetComment(),
	}
}

func fastRouteToProto(v *decision.FastRoute) *configv1.FastRoute {
	return &configv1.FastRoute{
		Username:             v.Username,
		Schemaname:           v.Schemaname,
		FlagIn:               v.FlagIn,
		DestinationHostgroup: v.DestinationHostgroup,
		Comment:              v.Comment,
	}
}
