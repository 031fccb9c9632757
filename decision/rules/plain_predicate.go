package rules

// Predicate is a column of query_rules that a rule tests. 0 is none.
type Predicate uint8

// The predicates in the order in which they are tested.
const (
	PredicateFlagIn Predicate = iota + 1
	PredicateUsername
	PredicateSchemaname
	PredicateClientAddr
	PredicateProxyAddr
	PredicateProxyPort
	PredicateDigest
	PredicateMatchDigest
	PredicateMatchPattern
)

var predicateNames = [...]string{
	PredicateFlagIn:       "flag_in",
	PredicateUsername:     "username",
	PredicateSchemaname:   "schemaname",
	PredicateClientAddr:   "client_addr",
	PredicateProxyAddr:    "proxy_addr",
	PredicateProxyPort:    "proxy_port",
	PredicateDigest:       "digest",
	PredicateMatchDigest:  "match_digest",
	PredicateMatchPattern: "match_pattern",
}

// String gives the column's name as configurations have it; empty for none.
func (p Predicate) String() string { return predicateNames[p] }
