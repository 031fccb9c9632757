// Package lastgood keeps the last configuration that worked in a file, so that a program can start and serve while the
// place it comes from is away. What else must be known then, such as a refused publication, is kept the same way.
//
// It must not import etcd or the store: gateways use it too. Whoever loads a damaged file must treat it as absent, and
// say so loudly. Save only what was taken into use successfully.
package lastgood
