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
	maxGroups        = 1_000 // of one route
	maxClasses       = 1_000 // of one group
	maxProblems      = 50_000
	maxProblemBytes  = 32 << 20 // of all texts together
)
