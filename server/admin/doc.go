// Package admin serves metrics, health and profiles over HTTP, for operators and their tools.
//
// It must not change anything and shows no configuration: whoever reaches the address may read everything here.
package admin
