package session

import (
	"bytes"
	"fmt"
	"math/bits"
	"strings"
)

// Flags is the state that ties a session to its backend connection, with ProxySQL's names. While any is set, the
// connection can't be left.
type Flags uint16

// The flags.
const (
	// UserVariable is a user variable, or a system variable that is not kept; see MultiplexOptions.KeepVariables.
	UserVariable Flags = 1 << iota
	// PreparedStatement is a statement prepared by the text command PREPARE.
	PreparedStatement
	// LockTables is LOCK TABLES or FLUSH TABLES WITH READ LOCK, until UNLOCK TABLES.
	LockTables
	// TemporaryTable is a temporary table.
	TemporaryTable
	// GetLock is a lock taken by GET_LOCK().
	GetLock
	// FoundRows is a statement with SQL_CALC_FOUND_ROWS.
	FoundRows
	// SQLLogBin0 is sql_log_bin=0, until it is set to 1.
	SQLLogBin0
	// HasSavepoint is a savepoint, until the transaction ends.
	HasSavepoint
	// HasWarnings are warnings of the last statement that SHOW WARNINGS would show.
	HasWarnings
	// NoMultiplex is a rule's multiplex=0, or a lock on the hostgroup, until a rule's multiplex=1.
	NoMultiplex
	// NoMultiplexHG is the hostgroup's attribute multiplex=0. No statement sets or clears it.
	NoMultiplexHG

	flagsEnd
)

var flagNames = [...]string{
	"USER_VARIABLE", "PREPARED_STATEMENT", "LOCK_TABLES", "TEMPORARY_TABLE", "GET_LOCK", "FOUND_ROWS", "SQL_LOG_BIN0",
	"HAS_SAVEPOINT", "HAS_WARNINGS", "NO_MULTIPLEX", "NO_MULTIPLEX_HG",
}

// String gives the names of the flags that are set, joined by "|".
func (f Flags) String() string {
	var names []string
	for rest := f & (flagsEnd - 1); rest != 0; rest &= rest - 1 {
		names = append(names, flagNames[bits.TrailingZeros16(uint16(rest))])
	}
	if rest := f &^ (flagsEnd - 1); rest != 0 {
		names = append(names, fmt.Sprintf("0x%04X", uint16(rest)))
	}
	return strings.Join(names, "|")
}

// MultiplexOptions are what the flags of a statement depend on besides its digest text. Take
// [DefaultMultiplexOptions] and change what is known.
type MultiplexOptions struct {
	Multiplex       *uint32  // the answer's multiplex: 0, 1 or 2; nil: no rule has one
	KeepVariables   []string // lower case; a SELECT of variables that begin with one of them sets no flag
	LockOnHostgroup bool     // the setting set_query_lock_on_hostgroup
	Locked          bool     // the session is locked on a hostgroup
	InTransaction   bool     // as the server reports after the statement
	Autocommit      bool     // likewise
	Warnings        uint16   // likewise; 0 when the setting handle_warnings is off
	Text            []byte   // the statement as sent; looked at for the value of sql_log_bin, which no digest shows
}

// DefaultMultiplexOptions are ProxySQL's defaults, for a statement outside a transaction that no rule says anything
// about.
func DefaultMultiplexOptions() MultiplexOptions {
	return MultiplexOptions{
		KeepVariables:   []string{"tx_isolation", "transaction_isolation", "version"},
		LockOnHostgroup: true,
		Autocommit:      true,
	}
}

// StatementFlags says which flags a statement sets and which it clears; none is in both. The new flags are
// old&^cleared|set, also when the statement failed.
//
// As in ProxySQL the flags are found from the digest text, so that literals and comments count for nothing, and
// nothing is found when statements are not digested (an empty text). Temporary tables and user variables inside stored
// procedures, CREATE OR REPLACE TEMPORARY TABLE, and GET_LOCK with a blank before its parenthesis stay unseen, and
// temporary tables, locks of GET_LOCK and SQL_CALC_FOUND_ROWS are cleared by a reset of the connection alone.
func StatementFlags(digestText []byte, o MultiplexOptions) (set, cleared Flags) {
	switch {
	case o.Multiplex == nil && o.Locked, o.Multiplex != nil && *o.Multiplex == 0:
		set |= NoMultiplex
	case o.Multiplex != nil && *o.Multiplex == 1:
		cleared |= NoMultiplex
	}
	if !o.InTransaction && o.Autocommit {
		cleared |= HasSavepoint
	}
	if len(digestText) == 0 {
		return set, cleared
	}
	set |= stateSet(digestText)
	if ignoresAt := o.Multiplex != nil && *o.Multiplex == 2; !ignoresAt && usesVariable(digestText, &o) {
		set |= UserVariable
	}
	switch {
	case hasPrefix(digestText, "UNLOCK TABLES"):
		cleared |= LockTables
	case hasPrefix(digestText, "SAVEPOINT ") && (o.InTransaction || !o.Autocommit):
		set |= HasSavepoint
	case endsTransaction(digestText):
		cleared |= HasSavepoint
	case hasPrefix(digestText, "SET "):
		switch setsSQLLogBin(digestText, o.Text) {
		case sqlLogBinOff:
			set |= SQLLogBin0
		case sqlLogBinOn:
			cleared |= SQLLogBin0
		case sqlLogBinNot:
		}
	}
	if o.Warnings > 0 {
		set |= HasWarnings
	} else if !showsWarnings(digestText) {
		cleared |= HasWarnings
	}
	return set, cleared
}

// stateSet finds the state that a statement leaves behind whatever the session is in.
func stateSet(digestText []byte) (set Flags) {
	switch {
	case hasPrefix(digestText, "PREPARE "):
		set |= PreparedStatement
	case hasPrefix(digestText, "LOCK TABLE"), hasPrefix(digestText, "FLUSH TABLES WITH READ LOCK"):
		set |= LockTables
	case hasPrefix(digestText, "CREATE TEMPORARY TABLE "):
		set |= TemporaryTable
	}
	if contains(digestText, "GET_LOCK(", len("GET_LOCK")) {
		set |= GetLock
	}
	if contains(digestText, "SQL_CALC_FOUND_ROWS", len("SQL")) {
		set |= FoundRows
	}
	return set
}

// usesVariable reports whether a statement has an @ that matters.
func usesVariable(digestText []byte, o *MultiplexOptions) bool {
	switch {
	case bytes.IndexByte(digestText, '@') < 0:
		return false
	case hasPrefix(digestText, "SET "):
		return !o.LockOnHostgroup || o.Locked // Otherwise SETs are followed, or lock the session.
	case hasPrefix(digestText, "SELECT "):
		return !onlyKept(digestText[len("SELECT "):], o.KeepVariables)
	default:
		return true
	}
}

// onlyKept reports whether a select list has kept variables only: each piece between commas must begin with the name
// of one, after @@, @@session. or @@local., and there may be no user variable anywhere.
func onlyKept(list []byte, keep []string) bool {
	for piece := range bytes.SplitSeq(list, []byte{','}) {
		name := piece
		for _, scope := range [...]string{"@@session.", "@@local.", "@@"} {
			if hasPrefix(name, scope) {
				name = name[len(scope):]
				break
			}
		}
		if !beginsWithOne(name, keep) || hasUserVariable(name) {
			return false
		}
	}
	return true
}

func beginsWithOne(text []byte, names []string) bool {
	for _, name := range names {
		if name != "" && hasPrefix(text, name) {
			return true
		}
	}
	return false
}

// hasUserVariable reports whether there is an @ that is not one of two.
func hasUserVariable(text []byte) bool {
	for {
		i := bytes.IndexByte(text, '@')
		if i < 0 {
			return false
		}
		if text = text[i+1:]; len(text) == 0 || text[0] != '@' {
			return true
		}
		text = text[1:]
	}
}

// endsTransaction reports whether a statement is COMMIT or ROLLBACK and nothing else. ROLLBACK TO keeps savepoints.
func endsTransaction(digestText []byte) bool {
	return isText(digestText, "COMMIT") || isText(digestText, "ROLLBACK")
}

// showsWarnings reports whether a statement leaves the warnings of the statement before it as they are.
func showsWarnings(digestText []byte) bool {
	return isText(digestText, "SHOW WARNINGS") || isText(digestText, "SHOW COUNT(*) WARNINGS")
}

type sqlLogBin uint8

const (
	sqlLogBinNot sqlLogBin = iota // not set
	sqlLogBinOff
	sqlLogBinOn
)

// setsSQLLogBin says what a SET makes of sql_log_bin. A value that can't be told counts as 0: that only costs a
// connection that is kept.
func setsSQLLogBin(digestText, text []byte) sqlLogBin {
	const name = "SQL_LOG_BIN"
	if !contains(digestText, name, len("SQL")) {
		return sqlLogBinNot
	}
	for {
		i := index(text, name, len("SQL"))
		if i < 0 {
			return sqlLogBinOff
		}
		text = text[i+len(name):]
		value := bytes.TrimLeft(text, "` \t\r\n")
		value = bytes.TrimPrefix(value, []byte(":"))
		if len(value) == 0 || value[0] != '=' {
			continue // named elsewhere, say in a comment
		}
		value = bytes.TrimLeft(value[1:], " \t\r\n'\"")
		if hasWord(value, "1") || hasWord(value, "ON") || hasWord(value, "TRUE") {
			return sqlLogBinOn
		}
		return sqlLogBinOff
	}
}

// The texts looked for are ASCII, and letter case never counts.

func isText(text []byte, word string) bool { return len(text) == len(word) && hasPrefix(text, word) }

func hasPrefix(text []byte, prefix string) bool {
	if len(text) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if upper(text[i]) != upper(prefix[i]) {
			return false
		}
	}
	return true
}

// hasWord reports whether text begins with a whole word.
func hasWord(text []byte, word string) bool {
	if !hasPrefix(text, word) {
		return false
	}
	rest := text[len(word):]
	return len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n'\",;"), rest[0]) >= 0
}

func contains(text []byte, word string, anchor int) bool { return index(text, word, anchor) >= 0 }

// index gives the place of a word in a text, -1 if it is not there. word[anchor] is not a letter; it is what is
// searched for.
func index(text []byte, word string, anchor int) int {
	for from := anchor; from < len(text); from++ {
		i := bytes.IndexByte(text[from:], word[anchor])
		if i < 0 {
			return -1
		}
		from += i
		if hasPrefix(text[from-anchor:], word) {
			return from - anchor
		}
	}
	return -1
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}
