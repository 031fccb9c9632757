// Package resolve looks up the host names of the routing guideline in force (RESOLVE_V4 and RESOLVE_V6).
//
// Names are looked up before a generation comes into force, at every interval after that, and sooner again when one could
// not be found. An address that was found once stays until another one is found. A name without an address is reported in
// the log; the guideline is in force all the same, and what needs the name can't be evaluated.
package resolve
