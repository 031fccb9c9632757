package decision

import (
	"github.com/pointsman/pointsman/decision/digest"
	"github.com/pointsman/pointsman/decision/rules"
)

// comment reads the annotations of the first comment.
func (e *explainer) comment(d *digest.Result) {
	c := &e.x.Comment
	c.HasComment, c.Text = d.HasComment, rules.Excerpt(d.FirstComment, 0)
	e.commented = rules.HasAnnotation(d.FirstComment)
	switch {
	case !e.q.Statement.HasText:
		c.Skipped = "there is no text, only a digest"
	case !e.g.digests:
		c.Skipped = "query_digests is off"
	case !d.HasComment:
		c.Skipped = "the statement has no comment of the form /* */"
	case !e.commented:
		c.Skipped = "the comment has no ="
	case !e.g.annotations:
		c.Skipped = "the setting query_processor_first_comment_parsing turns annotations off"
	default:
		for _, p := range rules.Pieces(d.FirstComment, e.q.NowMS) {
			e.annotation(&p)
		}
	}
}

// annotation takes over one piece of the comment.
func (e *explainer) annotation(p *rules.Piece) {
	a := ExplainedAnnotation{Key: p.Key, Value: p.Value, Why: p.Why}
	read := &p.Annotations
	e.usesTime = e.usesTime || read.UsesTime
	if set := settingsOf(read.Destination, &read.Effects, ^Field(0)); len(set) > 0 { // one piece sets one thing
		a.Set = &set[0]
		e.settings.add(a.Set, "an annotation")
	}
	if read.Destination != None {
		e.destination(ReasonAnnotation, 0, read.Destination)
	}
	read.Apply(&e.effects)
	e.x.Comment.Annotations = append(e.x.Comment.Annotations, a)
}
