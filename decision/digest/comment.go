package digest

// The ends of a comment that is kept.
var (
	commentOpener = []byte("/*")
	commentCloser = []byte("*/")
)

// maxComment is the length to which ProxySQL cuts the first comment.
const maxComment = 1021

// firstComment keeps the body of the first comment.
type firstComment struct {
	body  []byte
	found bool
}

func (f *firstComment) offer(body []byte) {
	if f.found {
		return
	}
	f.found = true
	f.body = append(f.body[:0], body[:min(len(body), maxComment)]...)
	for k, c := range f.body {
		if classes[c]&space != 0 {
			f.body[k] = ' '
		}
	}
}
