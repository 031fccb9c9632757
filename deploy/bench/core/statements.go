package core

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// words are names of columns and aliases.
var words = strings.Fields(`id user_id account status state created_at updated_at price amount currency email name
	first_name last_name city country zip phone comment title body tags parent_id position weight quantity sku total
	discount expires_at token session kind flags owner region language version checksum`)

// writer makes statements as applications send them.
type writer struct {
	*rand.Rand
	strings.Builder
}

// tables is how many tables of a kind there are, numbered from 0.
const tables = 1000

// statements makes n distinct raw statements with literals. Tables are those of expressions(1000); so most rules are
// hit by some statement, and some statements hit none. wide adds that many columns and list members on average.
func statements(r *rand.Rand, n, wide int) [][]byte {
	w := &writer{Rand: r}
	seen := make(map[string]bool, n)
	list := make([][]byte, 0, n)
	for len(list) < n {
		w.Reset()
		w.statement(wide)
		if text := w.String(); !seen[text] {
			seen[text] = true
			list = append(list, []byte(text))
		}
	}
	return list
}

func (w *writer) statement(wide int) {
	switch w.IntN(10) {
	case 0, 1, 2:
		w.selectFrom(wide)
		w.where(wide)
	case 3:
		w.selectFrom(wide)
		fmt.Fprintf(w, "id = %d FOR UPDATE", w.IntN(1_000_000))
	case 4:
		fmt.Fprintf(w, "SELECT f.%s, d.%s FROM facts f JOIN dim_%05d d ON f.%s = d.id WHERE f.%s > %d ORDER BY f.%s LIMIT %d",
			w.word(), w.word(), w.IntN(tables), w.word(), w.word(), w.IntN(100_000), w.word(), w.IntN(100))
	case 5:
		fmt.Fprintf(w, "INSERT INTO `orders_%05d` (", w.IntN(tables))
		columns := w.columns(wide)
		w.WriteString(") VALUES (")
		w.list(columns, ", ")
		w.WriteString(")")
	case 6:
		fmt.Fprintf(w, "UPDATE accounts_%05d SET %s = %d, %s = '%s' WHERE ", w.IntN(tables), w.word(), w.IntN(1000), w.word(), w.word())
		w.where(wide)
	case 7:
		fmt.Fprintf(w, "DELETE FROM log_%05d WHERE created_at < %d AND ", w.IntN(tables), w.IntN(2_000_000_000))
		w.where(wide)
	case 8:
		fmt.Fprintf(w, "/* shard=%d */ SELECT ", w.IntN(tables))
		w.columns(wide)
		fmt.Fprintf(w, " FROM customers_%05d WHERE ", w.IntN(tables))
		w.where(wide)
	case 9:
		w.WriteString("SELECT ")
		w.columns(wide)
		fmt.Fprintf(w, " FROM inventory i LEFT JOIN suppliers s ON s.id = i.%s WHERE i.%s = '%s' AND ", w.word(), w.word(), w.word())
		w.where(wide)
	}
}

func (w *writer) selectFrom(wide int) {
	w.WriteString("SELECT ")
	w.columns(wide)
	fmt.Fprintf(w, " FROM table_%05d WHERE ", w.IntN(tables))
}

// columns writes some names and gives how many.
func (w *writer) columns(wide int) int {
	n := 1 + w.IntN(2*wide)
	for i := range n {
		if i > 0 {
			w.WriteString(", ")
		}
		w.WriteString(w.word())
	}
	return n
}

func (w *writer) where(wide int) {
	fmt.Fprintf(w, "%s = '%s-%d'", w.word(), w.word(), w.IntN(100_000))
	if w.IntN(2) == 0 {
		fmt.Fprintf(w, " AND %s IN (", w.word())
		w.list(1+w.IntN(2*wide), ",")
		w.WriteString(")")
	}
	if w.IntN(3) == 0 {
		fmt.Fprintf(w, " ORDER BY %s DESC LIMIT %d", w.word(), w.IntN(1000))
	}
}

func (w *writer) list(n int, separator string) {
	for i := range n {
		if i > 0 {
			w.WriteString(separator)
		}
		switch w.IntN(4) {
		case 0:
			fmt.Fprintf(w, "'%s'", w.word())
		case 1:
			fmt.Fprintf(w, "%d.%02d", w.IntN(1000), w.IntN(100))
		default:
			fmt.Fprintf(w, "%d", w.IntN(1_000_000))
		}
	}
}

func (w *writer) word() string { return words[w.IntN(len(words))] }

// meanLength is the average length in bytes.
func meanLength(texts [][]byte) float64 {
	sum := 0
	for _, text := range texts {
		sum += len(text)
	}
	return float64(sum) / float64(len(texts))
}
