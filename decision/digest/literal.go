package digest

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// stringEnd finds the end of the string that starts with the quote at i; 0 if it has none.
func stringEnd(sql []byte, i int) int {
	quote := sql[i]
	for i++; i < len(sql); i++ {
		for i+8 <= len(sql) {
			x := binary.LittleEndian.Uint64(sql[i:])
			low := x &^ tops
			if stop := (equal(low, quote) | equal(low, '\\')) &^ x & tops; stop != 0 {
				i += bits.TrailingZeros64(stop) >> 3
				break
			}
			i += 8
		}
		if i >= len(sql) {
			break
		}
		switch sql[i] {
		case '\\':
			i++
		case quote:
			if i+1 < len(sql) && sql[i+1] == quote {
				i++
				continue
			}
			return i + 1
		}
	}
	return 0
}

// numberEnd finds the end of what starts with the digit at i and may be a number.
//
// After the first digit any mix of digits, points and exponents counts. The last byte of the statement is special: when
// it is a word byte it belongs to the number whatever it is (9x is a number there), otherwise it does not belong to it.
func numberEnd(sql []byte, i int) int {
	last := len(sql) - 1
	j := i + 1
	if sql[i] == '0' && j < last && sql[j]|0x20 == 'x' {
		for j++; j < last && classes[sql[j]]&hex != 0; {
			j++
		}
	} else {
	loop:
		for j < last {
			switch c := sql[j]; {
			case classes[c]&digit != 0 || c == '.':
				j++
			case c|0x20 == 'e':
				j++
				if j < last && (sql[j] == '+' || sql[j] == '-') {
					j++
				}
			default:
				break loop
			}
		}
	}
	if j == last && classes[sql[j]]&word != 0 {
		j++
	}
	return j
}

// shortNumberEnd finds the end of a decimal number of less than eight digits and points. It gives 0 when that may be
// none.
func shortNumberEnd(sql []byte, i int) int {
	if i > 0 && classes[sql[i-1]]&word != 0 {
		return 0
	}
	x := lanesAt(sql, i)
	low := x &^ tops
	digits := (low + (0x80-'0')*each) &^ (low + (0x80-'9'-1)*each)
	n := bits.TrailingZeros64((^(digits|equal(low, '.'))|x)&tops) >> 3
	end := i + n
	if n == 8 || end < len(sql) && classes[sql[end]]&word != 0 || end == len(sql) && sql[end-1] == '.' {
		return 0
	}
	return end
}

// nullAt tells whether the word NULL is at i.
func nullAt(sql []byte, i int) bool {
	return sql[i]|0x20 == 'n' && i+4 <= len(sql) && bytes.EqualFold(sql[i:i+4], []byte("null")) &&
		(i+4 == len(sql) || classes[sql[i+4]]&word == 0)
}
