package mysql

import "bytes"

// SessionTrack is what a backend reported about its session in OK packets of one response.
type SessionTrack struct {
	// Schema is the new default schema; nil when it was not reported.
	Schema *string
	// Variables are system variables with their new values, in the order of the report.
	Variables []Variable
	// StateChanged says that something changed that is not reported by value: user variables, temporary tables,
	// prepared statements.
	StateChanged bool
	// TransactionState is the eight-character state, for instance "T_R_____"; empty when it was not reported.
	TransactionState string
	// Characteristics is the statement that restarts the transaction; nil when it was not reported.
	Characteristics *string
	// GTIDs are the transactions' identifiers; empty when they were not reported.
	GTIDs string
}

// Variable is a system variable's new value.
type Variable struct{ Name, Value string }

// Types of entries in a session state block.
const (
	trackVariables       byte = 0
	trackSchema          byte = 1
	trackState           byte = 2
	trackGTIDs           byte = 3
	trackCharacteristics byte = 4
	trackTransaction     byte = 5
)

// add reads the session state block of an OK packet. Entries of unknown types are skipped.
func (t *SessionTrack) add(block []byte) error {
	f := fields{b: block}
	for len(f.b) > 0 && !f.bad {
		kind := f.u8()
		e := fields{b: f.bytesLenenc()}
		switch kind {
		case trackVariables:
			for len(e.b) > 0 && !e.bad {
				v := Variable{Name: string(e.bytesLenenc())}
				v.Value = string(e.bytesLenenc())
				t.Variables = append(t.Variables, v)
			}
		case trackSchema:
			s := string(e.bytesLenenc())
			t.Schema = &s
		case trackState:
			// MySQL puts a length before the flag, MariaDB does not.
			t.StateChanged = t.StateChanged || bytes.HasSuffix(e.b, []byte{'1'})
		case trackGTIDs:
			e.u8() // Encoding: always text.
			t.GTIDs = string(e.bytesLenenc())
		case trackCharacteristics:
			s := string(e.bytesLenenc())
			t.Characteristics = &s
		case trackTransaction:
			t.TransactionState = string(e.bytesLenenc())
		}
		f.bad = f.bad || e.bad
	}
	if f.bad {
		return ErrMalformedPacket
	}
	return nil
}
