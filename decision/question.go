package decision

import "github.com/pointsman/pointsman/decision/guideline"

// None stands for an absent flag, hostgroup or route in Session and Answer.
const None int32 = -1

// Refused stands for the route of a session that no route of the guideline matches.
const Refused int32 = -2

// Command is the MySQL command that carries a statement.
type Command uint8

// The commands.
const (
	// Query is COM_QUERY.
	Query Command = iota
	// Prepare is COM_STMT_PREPARE; it is routed like a query.
	Prepare
	// Execute is COM_STMT_EXECUTE; it is routed like its Prepare and never rewritten.
	Execute
)

// Session is what is known of a client's session.
type Session struct {
	Username             string
	Schemaname           string // empty: the user's default_schema, else the setting default_schema
	ClientAddr           string // empty: unknown, its predicates pass
	ProxyAddr            string // empty: unknown, its predicates pass
	ProxyPort            uint32
	NextQueryFlagIn      int32 // the flag the walk starts from; None: 0
	TransactionHostgroup int32 // None: no transaction holds the session
	LockedHostgroup      int32 // None: no lock holds the session

	// What routing guidelines look at besides.
	ConnectAttrs map[string]string // of the client's handshake
	RandomValue  float64           // in [0,1), drawn once per session
	RandomDrawn  bool              // RandomValue was drawn for this question alone, since the caller keeps none; see Recall
	Router       *guideline.Router // the gateway and its listener; nil: unknown, its variables are NULL
	// KeptRoute is used instead of asking the guideline: the route that the session's cookie of this very generation names, or
	// Refused, for a caller that keeps no random value; see Recall. None: the guideline is asked. The zero value names the
	// first route, so who builds a Session sets it, as all fields with a None.
	KeptRoute int32
}

// Statement is the statement to route.
type Statement struct {
	Text       []byte // the text as sent; used when HasText
	HasText    bool
	Digest     uint64 // with DigestText, used when there is no text
	DigestText []byte
	HasDigest  bool
	Command    Command
}

// Question is one statement of one session. Randomness and time come in as values, so that the same question
// always has the same answer.
type Question struct {
	Session   Session
	Statement Statement
	Seed      uint64          // for weighted flagOUTs
	NowMS     int64           // ms since 1970, for min_epoch_ms annotations
	Names     guideline.Names // the addresses of the hosts that the guideline resolves
}

// QuestionError says which field of a question is wrong.
type QuestionError struct {
	Field   string // the API's name of the field, e.g. "session.username"
	Message string
}

// Error gives "field: message".
func (e *QuestionError) Error() string { return e.Field + ": " + e.Message }
