package digest

// correctedKinds holds the kind of every byte for the corrected digest. Bytes from 0x80 on are part of names.
var correctedKinds = func() (t [256]kind) {
	t = kinds
	for c := 0x80; c < 0x100; c++ {
		t[c] = kindWord
	}
	t['\v'], t['\f'], t['`'], t['.'] = kindBlank, kindBlank, kindBacktick, kindPoint
	return t
}()

// isNameEnd tells whether a name or a number ends before i.
func isNameEnd(sql []byte, i int) bool {
	return i > 0 && (classes[sql[i-1]]&(word|high) != 0 || sql[i-1] == '`')
}

// isIntroducer tells whether a string behind c is a literal of its own kind, as x'41', b'01' and n'c'.
func isIntroducer(c byte) bool {
	c |= 0x20
	return c == 'x' || c == 'b' || c == 'n'
}

// decimalEnd finds the end of the number that starts at i with a digit or a point; 0 if a name starts there.
func decimalEnd(sql []byte, i int) int {
	if end := shortNumberEnd(sql, i); end > 0 && (end == len(sql) || sql[end] < 0x80) {
		return end
	}
	j := i
	plain := true // No point and no signed exponent so far.
	if sql[i] == '0' && i+2 < len(sql) && (sql[i+1]|0x20 == 'x' || sql[i+1]|0x20 == 'b') {
		of := hex
		if sql[i+1]|0x20 == 'b' {
			of = digit
		}
		for j = i + 2; j < len(sql) && classes[sql[j]]&of != 0 && (of == hex || sql[j] < '2'); {
			j++
		}
		if j == i+2 {
			return 0
		}
	} else {
		for j < len(sql) && (classes[sql[j]]&digit != 0 || sql[j] == '.') {
			plain = plain && sql[j] != '.'
			j++
		}
		if k := j + 1; j < len(sql) && sql[j]|0x20 == 'e' {
			signed := k < len(sql) && (sql[k] == '+' || sql[k] == '-')
			if signed {
				k++
			}
			if k < len(sql) && classes[sql[k]]&digit != 0 {
				for k < len(sql) && classes[sql[k]]&digit != 0 {
					k++
				}
				j = k
				plain = plain && !signed
			}
		}
	}
	if plain && j < len(sql) && classes[sql[j]]&(word|high) != 0 {
		return 0
	}
	return j
}

// endsWithOperator tells whether the text ends with a word behind which a sign belongs to a value.
func endsWithOperator(text []byte) bool {
	var b [len("distinctrow")]byte
	k := len(b)
	i := len(text)
	for i > 0 && classes[text[i-1]]&(word|high) != 0 {
		if k == 0 {
			return false
		}
		i--
		k--
		b[k] = text[i] | byte(classes[text[i]]&capital)
	}
	if i > 0 && (text[i-1] == '.' || text[i-1] == '@') {
		return false
	}
	switch string(b[k:]) {
	case "all", "and", "between", "binary", "by", "case", "default", "distinct", "distinctrow", "div", "else", "elseif", "escape",
		"having", "if", "in", "interval", "like", "limit", "mod", "not", "on", "or", "regexp", "return", "rlike", "select", "set",
		"then", "until", "values", "when", "where", "while", "xor":
		return true
	}
	return false
}
