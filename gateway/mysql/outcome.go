package mysql

// Outcome is what a relayed command's response said, last result last.
type Outcome struct {
	// Status are the server's status flags, valid if StatusKnown. An ERR has none, so after one the state of the
	// transaction is unknown until another command succeeds; PREPARE and STATISTICS leave it open too.
	Status      uint16
	StatusKnown bool
	// AffectedRows and LastInsertID are those of the last OK packet.
	AffectedRows uint64
	LastInsertID uint64
	// Warnings is the last result's count.
	Warnings uint16
	// Rows counts all rows of all results, and Results the results, OKs and ERRs included.
	Rows    uint64
	Results int
	// Err is the ERR packet that ended the response, if one did.
	Err *Error
	// FirstByteSent says that the client may have seen a part of the response. While it is false, a command may be
	// tried on another server, if what it does allows that.
	FirstByteSent bool
	// ResponseBytes counts what the backend sent, packet headers included.
	ResponseBytes uint64
	// Prepared is set by a successful COM_STMT_PREPARE.
	Prepared Prepared
	// Track is what the backend reported of its session; nil when there was nothing, or when it did not negotiate
	// SESSION_TRACK.
	Track *SessionTrack
}

// InTransaction says whether the server reported an open transaction.
func (o *Outcome) InTransaction() bool {
	return o.StatusKnown && o.Status&(StatusInTrans|StatusInTransReadonly) != 0
}

// Prepared is the answer to COM_STMT_PREPARE.
type Prepared struct {
	OK      bool
	ID      uint32 // The server's statement id.
	Columns uint16
	Params  uint16
}
