package guideline

import "slices"

// textPredicate is a test of a text against something constant.
type textPredicate struct {
	kind    predicateKind
	text    string              // small letters
	texts   []string            // small letters
	lengths uint64              // of texts: a bit for each, the last one for all from 63 on
	many    map[uint64][]string // texts by their hash
	pattern *likePattern
	regexp  *wholeRegexp
}

type predicateKind uint8

const (
	equalsText predicateKind = iota
	amongFew
	amongMany
	hasPrefix
	hasSuffix
	contains
	isLike
	matchesRegexp
	isIPv4Text
	isIPv6Text
	likesAnything // NULL, too
)

// fewTexts is how many texts are compared one by one.
const fewTexts = 8

// tooCostly tells that the test fails, because it would take too long.
func (p *textPredicate) tooCostly(text string) bool {
	switch p.kind {
	case isLike:
		return p.pattern.tooCostly(text)
	case matchesRegexp:
		return tooCostly(text, p.regexp.size)
	default:
		return false
	}
}

// mayFail tells whether some text is too costly.
func (p *textPredicate) mayFail() bool { return p.kind == isLike || p.kind == matchesRegexp }

// holds tells whether a text that is not too costly passes the test.
func (p *textPredicate) holds(text string) bool {
	switch p.kind {
	case equalsText:
		return isLowered(text, p.text)
	case amongFew:
		if p.lengths&(1<<min(len(text), 63)) == 0 {
			return false
		}
		for _, t := range p.texts {
			if isLowered(text, t) {
				return true
			}
		}
		return false
	case amongMany:
		for _, t := range p.many[hashFold(text)] {
			if isLowered(text, t) {
				return true
			}
		}
		return false
	case hasPrefix:
		return len(text) >= len(p.text) && isLowered(text[:len(p.text)], p.text)
	case hasSuffix:
		return hasSuffixFold(text, p.text)
	case contains:
		return indexFold(text, p.text) >= 0
	case isLike:
		return p.pattern.match(text)
	case matchesRegexp:
		return p.regexp.MatchString(text)
	case isIPv4Text:
		return isIPv4(text)
	case isIPv6Text:
		return isIPv6(text)
	case likesAnything:
		return true
	}
	return false
}

// hashFold hashes a text so that the case of ASCII letters makes no difference (FNV-1a).
func hashFold(text string) uint64 {
	hash := uint64(14695981039346656037)
	for i := range len(text) {
		hash = (hash ^ uint64(lower(text[i]))) * 1099511628211
	}
	return hash
}

// textsPredicate tests whether a text is one of some constants.
func textsPredicate(constants []*node) *textPredicate {
	texts := make([]string, len(constants))
	for i, constant := range constants {
		texts[i] = lowered(constant.constant.Text)
	}
	switch {
	case len(texts) == 1:
		return &textPredicate{kind: equalsText, text: texts[0]}
	case len(texts) <= fewTexts:
		p := &textPredicate{kind: amongFew, texts: texts}
		for _, text := range texts {
			p.lengths |= 1 << min(len(text), 63)
		}
		return p
	}
	many := make(map[uint64][]string, len(texts))
	for _, text := range texts {
		hash := hashFold(text)
		if !slices.Contains(many[hash], text) {
			many[hash] = append(many[hash], text)
		}
	}
	return &textPredicate{kind: amongMany, many: many}
}

func likePredicate(pattern *likePattern) *textPredicate {
	if pattern.always {
		return &textPredicate{kind: likesAnything}
	}
	p := &textPredicate{kind: isLike, text: pattern.body, pattern: pattern}
	switch pattern.kind {
	case likeWhole:
		p.kind = equalsText
	case likePrefix:
		p.kind = hasPrefix
	case likeSuffix:
		p.kind = hasSuffix
	case likeWithin:
		p.kind = contains
	case likeGeneral:
	}
	return p
}

// callPredicate gives the test of the first argument that a call is; nil when the others are not constant.
func callPredicate(n *node) *textPredicate {
	for _, arg := range n.args[1:] {
		if !arg.isConstant() {
			return nil
		}
	}
	p := &textPredicate{}
	switch n.function.name {
	case "STARTSWITH":
		p.kind, p.text = hasPrefix, lowered(n.args[1].constant.Text)
	case "ENDSWITH":
		p.kind, p.text = hasSuffix, lowered(n.args[1].constant.Text)
	case "CONTAINS":
		p.kind, p.text = contains, lowered(n.args[1].constant.Text)
	case "REGEXP_LIKE":
		p.kind, p.regexp = matchesRegexp, n.regexp
	case "IS_IPV4":
		p.kind = isIPv4Text
	case "IS_IPV6":
		p.kind = isIPv6Text
	default:
		return nil
	}
	return p
}
