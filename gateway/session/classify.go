package session

import "strings"

// kind says what the gateway must know of a statement besides its destination. It is found from the digest text, so
// never inside literals or comments.
type kind struct {
	use            string // the schema of a USE statement
	read           bool   // a SELECT or SHOW that takes no locks and changes nothing: it may be sent again
	commit         bool   // COMMIT or ROLLBACK: ends a transaction
	set            bool   // SET ...
	setStatement   bool   // SET STATEMENT ... FOR ...
	setTransaction bool   // SET TRANSACTION: concerns the next transaction
	needsLast      bool   // asks about the statement before it
	needsInsert    bool   // asks for the last generated id
	setsVariable   bool   // may set a user variable
	kill           bool
}

func classify(digest string) kind {
	upper := strings.ToUpper(digest)
	first, rest := word(strings.TrimLeft(upper, "( "))
	second, third := word(rest)
	var k kind
	switch first {
	case "SELECT":
		k.read = !locks(upper)
		k.needsInsert = strings.Contains(upper, "LAST_INSERT_ID") || strings.Contains(upper, "@@IDENTITY")
		k.needsLast = strings.Contains(upper, "FOUND_ROWS(") || strings.Contains(upper, "ROW_COUNT(")
	case "SHOW":
		k.needsLast = second == "WARNINGS" || second == "ERRORS" || strings.HasPrefix(second, "COUNT(")
		k.read = true
	case "GET":
		k.needsLast = true
	case "USE":
		name := strings.TrimSpace(digest[strings.Index(upper, "USE")+3:])
		k.use = strings.Trim(strings.TrimRight(name, "; "), "`")
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
	case "KILL":
		k.kill = true
	}
	k.setsVariable = hasUserVariable([]byte(digest)) &&
		(k.set || first == "CALL" || strings.Contains(upper, ":=") || strings.Contains(upper, " INTO @"))
	if strings.Contains(digest, ";") { // several statements, or so it may be
		k.read, k.use, k.kill, k.commit = false, "", false, false
	}
	return k
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
	for _, s := range []string{" FOR UPDATE", " FOR SHARE", "LOCK IN SHARE MODE", " INTO ", "_LOCK", ":=", "SLEEP(", "NEXTVAL(", "NEXT VALUE", "SETVAL("} {
		if strings.Contains(upper, s) {
			return true
		}
	}
	return false
}
