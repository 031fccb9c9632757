// Package settings reads the settings of Pointsman's daemons: flags, then POINTSMAN_ variables, then a YAML file, in
// that order of precedence, and makes the logger that they ask for.
//
// It must not know what a setting means. The daemons are in the packages server and gateway.
package settings
