package rules

import "math"

// Piece is one annotation of a comment, or what looks like one.
type Piece struct {
	Key, Value  string      // cut by Excerpt
	Annotations Annotations // what it asks for, at most one thing
	Why         string      // why it asks for nothing; empty: it asks for something
}

// Pieces gives the pieces that Annotations.Parse reads in a comment, one by one.
func Pieces(comment []byte, nowMS int64) []Piece {
	var out []Piece
	for rest := comment; len(rest) > 0; {
		var piece, key, value []byte
		piece, rest = cut(rest, ';')
		key, piece = cut(piece, '=')
		value, _ = cut(piece, '=')
		if key, value = trim(key), trim(value); len(key) == 0 {
			continue
		}
		p := Piece{Key: Excerpt(key, 0), Value: Excerpt(value, 0), Annotations: Annotations{Destination: None}}
		a := &p.Annotations
		a.piece(key, value, nowMS)
		if a.Effects.Set == 0 && a.Destination == None {
			p.Why = whyNothing(key, value, a)
		}
		out = append(out, p)
	}
	return out
}

// tooLarge is why pieces ask for nothing that Annotations.Ignored counts.
const tooLarge = "the number is too large"

// whyNothing says why a piece asks for nothing.
func whyNothing(key, value []byte, a *Annotations) string {
	switch {
	case !isAnnotation(key):
		return "no annotation has this key"
	case isKey(key, "min_gtid"):
		return "the value is not of the form text:number"
	case len(value) == 0 || !isDigit(value[0]):
		return "the value does not begin with a digit"
	case a.Ignored > 0:
		return tooLarge
	case isKey(key, "max_lag_ms"):
		return "the number is above 600000"
	case isKey(key, "min_epoch_ms"):
		return "the time is in the future, or more than 600000 ms ago"
	}
	return "only 1 has an effect" // create_new_connection
}

// isAnnotation tells whether a key is known. A value of digits alone makes each known key ask for something or say why.
func isAnnotation(key []byte) bool {
	if isKey(key, "min_gtid") {
		return true
	}
	probe := Annotations{Destination: None}
	probe.piece(key, []byte("1"), math.MaxInt64)
	return probe.Effects.Set != 0 || probe.Destination != None || probe.UsesTime
}
