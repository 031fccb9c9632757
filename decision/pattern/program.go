package pattern

// opcode says what an instruction does.
type opcode uint8

const (
	opMatch      opcode = iota
	opByte              // one byte equal to b
	opSet               // one byte in set
	opString            // the bytes of text
	opFold              // the bytes of text, which are lower case, in either case
	opRun               // n to m bytes in set (m may be unlimited), by greed
	opJump              // go to x
	opSplit             // go to x, and if that fails to y
	opOpen              // the group with register n begins; x is 0 when nothing in the program reads it
	opClose             // the group with register n-1 ends; x as in opOpen
	opStash             // register n becomes the place
	opCloseStash        // the group with registers n and n+1 began at the stash in m and ends
	opKeep              // the match begins here (register n)
	opAssert            // the place fits assertion
	opBack              // n bytes back
	opBackref           // the text of the group with registers n and n+1; x is 1 for either case
	opMark              // register n becomes the height of the stack
	opCut               // forget the choices made since the mark in n
	opLook              // registers n and n+1 become the height of the stack and the place
	opLookEnd           // as opCut, and back to the place
	opTry               // as opLook, and if what follows fails go to y
	opTryEnd            // undo all since opTry with n; back to its place, to y, or fail if y is 0
	opIfGroup           // go to y unless the group with registers n and n+1 is set
	opStarBegin         // register n becomes no place
	opStar              // another round at x, or on at y; register n is where the latest round began, m is 1 if one must be made
	opLoopBegin         // registers n and n+1 become 0 rounds and no place
	opLoop              // a round of a counted loop, see loop
)

// instruction is one step of a program.
type instruction struct {
	op        opcode
	b         byte
	assertion assertion
	greed     greed
	x, y      int
	n, m      int
	text      string
	set       *byteSet
	next      *byteSet // opRun: the bytes that may come behind the run, nil if any or none
	memo      int      // opSplit, opRun, opStar: its first row in the memo
	starts    []int    // of these: the registers of the stars around it, in which a round may be empty
	loop      *loop    // opLoop
}

// loop is what opLoop needs. Register n counts rounds, n+1 is where the latest round began.
// The body is at x and the exit at y.
type loop struct {
	min, max int
	stops    bool // a round that matched nothing is the last one
}

// program is a compiled expression. It never changes.
type program struct {
	code      []instruction
	registers int // two for each group, and more for the program's own use
	keep      int // register of \K, or -1
	memoRows  int // -1 if the outcome of an instruction depends on more than its place and the places in starts
	tries     int // with the memo, at most so many choices are tried for each place of the text
	shortest  int
	anchored  bool
	prefix    []byte   // each match begins with it, nil if unknown
	first     *byteSet // each match begins with one of them, nil if unknown
}
