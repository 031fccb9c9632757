package decision

// The codes of problems. docs/problems.md explains each of them; they don't change.
const (
	codeOutOfRange         = "out_of_range"
	codeDuplicateKey       = "duplicate_key"
	codeEmptyKey           = "empty_key"
	codeUnknownHostgroup   = "unknown_hostgroup"
	codeUnknownStatus      = "unknown_status"
	codeUnsupported        = "unsupported"
	codeBadPasswordHash    = "bad_password_hash"
	codeNoPassword         = "no_password"
	codeBackendLogin       = "backend_login"
	codeBadDigest          = "bad_digest"
	codeBadClientAddr      = "bad_client_addr"
	codeBadProxyAddr       = "bad_proxy_addr"
	codeRegexSyntax        = "regex_syntax"
	codeRegexBacktracking  = "regex_backtracking"
	codeUnknownModifier    = "unknown_modifier"
	codeReplaceNoPattern   = "replace_without_pattern"
	codeBadReplacement     = "bad_replacement"
	codeAttributesJSON     = "attributes_json"
	codeBadFlagOuts        = "bad_flagouts"
	codeDigestsOff         = "digests_off"
	codeNegativeHostgroup  = "negative_hostgroup"
	codeRegexEngineIgnored = "regex_engine_ignored"
	codeUnknownDigestMode  = "unknown_digest_mode"
)
