package guideline

// schema is the part of JSON Schema that the published schema of documents uses (section 1 of the specification).
type schema struct {
	kind       jsonKind
	integer    bool // of a number: not negative, without fraction or exponent
	properties []property
	closed     bool // no other properties
	items      *schema
	minItems   int
	unique     bool // items
	enum       []string
}

// property is a member that an object may have.
type property struct {
	name     string
	required bool
	schema   *schema
}

// documentSchema is the published schema. What it means to ask of the lists inside routes (one element at least, no two
// equal ones) stands where no validator looks, so it has no effect and is left out.
func documentSchema() *schema {
	text := &schema{kind: jsonString}
	boolean := &schema{kind: jsonBoolean}
	destination := &schema{kind: jsonObject, properties: []property{
		{name: "name", required: true, schema: text},
		{name: "match", required: true, schema: text},
	}}
	group := &schema{kind: jsonObject, properties: []property{
		{name: "classes", required: true, schema: &schema{kind: jsonArray, items: text}},
		{name: "strategy", required: true, schema: &schema{kind: jsonString, enum: strategyNames[:]}},
		{name: "priority", required: true, schema: &schema{kind: jsonNumber, integer: true}},
	}}
	route := &schema{kind: jsonObject, properties: []property{
		{name: "name", required: true, schema: text},
		{name: "connectionSharingAllowed", schema: boolean},
		{name: "enabled", schema: boolean},
		{name: "match", required: true, schema: text},
		{name: "destinations", required: true, schema: &schema{kind: jsonArray, items: group}},
	}}
	return &schema{kind: jsonObject, closed: true, properties: []property{
		{name: "version", required: true, schema: text},
		{name: "name", schema: text},
		{name: "destinations", required: true, schema: &schema{kind: jsonArray, items: destination, minItems: 1, unique: true}},
		{name: "routes", required: true, schema: &schema{kind: jsonArray, items: route}},
	}}
}
