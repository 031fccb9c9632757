package guideline

// Limits of a document. They are far above what a fleet needs and keep a hostile document from taking memory or time; what
// passes one is a problem that names it.
const (
	maxDocumentBytes = 4 << 20
	maxDocumentParts = 500_000 // of all its expressions, as maxExpressionParts counts them; a part keeps up to 450 bytes
	maxJSONDepth     = 10_000  // objects and arrays inside each other
	maxJSONValues    = 500_000 // values in the whole document
	maxDestinations  = 10_000
	maxRoutes        = 20_000
	maxGroups        = 100     // of one route
	maxClasses       = 1_000   // of one group
	maxReferences    = 100_000 // to classes, of all groups together
	maxProblems      = 50_000
	maxProblemBytes  = 32 << 20 // of all texts together
)

// Limits of one evaluation, so that no session's facts can take long.
const (
	maxMatchCost       = 20_000_000 // bytes of a text times parts of the pattern that it is held against
	maxVariablePattern = 1_000      // parts of a REGEXP_LIKE's pattern that is not constant
	maxConcatBytes     = 1 << 20    // what CONCAT gives
)
