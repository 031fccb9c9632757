package session

import (
	"bytes"
	"strings"
)

// kind says what the gateway must know of a statement besides its destination. It is found from the digest text, so
// never inside literals or comments.
type kind struct {
	use            bool // USE: changes the schema
	read           bool // takes no locks and changes nothing: it may be sent again
	commit         bool // COMMIT or ROLLBACK: ends a transaction
	set            bool // SET ...
	setStatement   bool // SET STATEMENT ... FOR ...
	setTransaction bool // SET TRANSACTION: concerns the next transaction
	collate        bool // SET NAMES ... COLLATE ...
	needsLast      bool // asks about the statement before it
	needsInsert    bool // uses the last generated id
	setsVariable   bool // may set a user variable
	ties           bool // a SELECT that leaves something behind on its server
	call           bool // CALL: may do anything
	kill           bool
	savepoint      bool
	pin            string // why it holds the session on its server; empty: it does not
	text           string // the digest text itself; classify leaves it out
}

func classify(digest string) kind {
	digest = skipComments(digest)
	upper := strings.ToUpper(digest)
	first, rest := word(strings.TrimLeft(upper, "( "))
	second, third := word(rest)
	var k kind
	k.needsInsert = containsAny(upper, "LAST_INSERT_ID", "@@IDENTITY")
	switch first {
	case "SELECT":
		k.read = !locks(upper)
		k.needsLast = calls(upper, "FOUND_ROWS") || calls(upper, "ROW_COUNT") || containsAny(upper, "@@WARNING_COUNT", "@@ERROR_COUNT")
	case "WITH":
		k.read = !locks(upper) && !containsAny(upper, "UPDATE ", "DELETE ", "INSERT ", "REPLACE ")
	case "SHOW":
		k.needsLast = second == "WARNINGS" || second == "ERRORS" || strings.HasPrefix(second, "COUNT(")
		k.read = true
	case "DESC", "DESCRIBE", "EXPLAIN":
		k.read = !locks(upper)
	case "GET":
		k.needsLast = true
	case "USE":
		k.use = true
	case "COMMIT":
		k.commit = true
	case "ROLLBACK":
		if second == "WORK" {
			second, _ = word(third)
		}
		k.commit = second != "TO" // a savepoint
	case "SET":
		k.set = true
		k.setStatement = second == "STATEMENT"
		k.setTransaction = second == "TRANSACTION"
		k.collate = second == "NAMES" && strings.Contains(third, " COLLATE ")
	case "KILL":
		k.kill = true
	case "SAVEPOINT":
		k.savepoint = true
	case "CALL":
		k.call = true
	}
	k.setsVariable = hasUserVariable([]byte(digest)) &&
		(k.set || k.call || strings.Contains(upper, ":=") || strings.Contains(upper, " INTO @"))
	k.ties = first == "SELECT" && (k.setsVariable || calls(upper, "GET_LOCK"))
	several := false
	for part := range strings.SplitSeq(upper, ";") { // no ; of a literal is in a digest
		several = several || len(part) < len(upper)
		if k.pin == "" {
			k.pin = pinCause(part)
		}
	}
	if several {
		k.read, k.use, k.kill, k.commit, k.ties = false, false, false, false, false
	}
	return k
}

// calls tells whether a function is called in a text in upper case, also with a blank before its parenthesis.
func calls(upper, name string) bool {
	for {
		before, after, found := strings.Cut(upper, name)
		if !found {
			return false
		}
		if !endsInName(before) && strings.HasPrefix(strings.TrimLeft(after, " "), "(") {
			return true
		}
		upper = after
	}
}

// endsInName tells whether what follows the text would be the rest of a longer name.
func endsInName(text string) bool {
	if text == "" {
		return false
	}
	c := text[len(text)-1]
	return c == '_' || c == '$' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// pinCause finds what the flags of multiplexing leave out, in upper case.
func pinCause(upper string) string {
	first, rest := word(upper)
	second, rest := word(rest)
	third, rest := word(rest)
	fourth, _ := word(rest)
	switch {
	case first == "HANDLER":
		return "HANDLER"
	case first == "XA" && (second == "START" || second == "BEGIN"):
		return "XA"
	case first == "FLUSH" && containsAny(upper, " LOCK", " EXPORT"):
		return LockTables.String()
	case first == "BACKUP", first == "LOCK" && second == "INSTANCE":
		return "BACKUP"
	case first == "CREATE" && (second == "TEMPORARY" || second == "OR" && third == "REPLACE" && fourth == "TEMPORARY"):
		return TemporaryTable.String()
	case calls(upper, "GET_LOCK"):
		return GetLock.String()
	}
	return ""
}

// skipComments leaves out the comments before a statement, which digests have when query_digests_keep_comment is on.
func skipComments(digest string) string {
	for {
		digest = strings.TrimLeft(digest, " ")
		comment, rest, closed := strings.Cut(digest, "*/")
		if !closed || !strings.HasPrefix(comment, "/*") || strings.HasPrefix(comment, "/*!") {
			return digest
		}
		digest = rest
	}
}

// word gives the first word and the rest. A word ends at a blank or a semicolon.
func word(s string) (first, rest string) {
	s = strings.TrimLeft(s, " ")
	end := strings.IndexAny(s, " ;")
	if end < 0 {
		end = len(s)
	}
	return s[:end], s[end:]
}

// locks tells whether a SELECT, in upper case, may lock rows, write somewhere, or change the session.
func locks(upper string) bool {
	return containsAny(upper, " FOR UPDATE", " FOR SHARE", "LOCK IN SHARE MODE", " INTO ", "_LOCK", ":=", "SLEEP(",
		"NEXTVAL(", "NEXT VALUE", "SETVAL(", "LAST_INSERT_ID(?")
}

func containsAny(s string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// nameAfter gives the name that follows a keyword in a statement, with its quotes taken off; empty when it is not
// as simple as that.
func nameAfter(text []byte, keyword string) string {
	i := bytes.Index(bytes.ToUpper(text), []byte(keyword))
	if i < 0 {
		return ""
	}
	name := bytes.TrimLeft(text[i+len(keyword):], " \t\r\n")
	if len(name) == 0 {
		return ""
	}
	if quote := name[0]; quote == '`' || quote == '\'' || quote == '"' {
		inner, _, closed := bytes.Cut(name[1:], []byte{quote})
		if !closed {
			return ""
		}
		return string(inner)
	}
	if end := bytes.IndexAny(name, " \t\r\n;/#"); end >= 0 {
		name = name[:end]
	}
	return string(name)
}
