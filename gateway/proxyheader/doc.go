// Package proxyheader takes the PROXY protocol's header (versions 1 and 2) off connections from listed networks, where proxies
// say on whose behalf they connect (https://www.haproxy.org/download/2.9/doc/proxy-protocol.txt).
//
// It must not look at connections from elsewhere: anybody could claim to be anybody, and a MySQL server speaks first, so
// waiting for a header would hold up clients that send none. The header itself is parsed by go-proxyproto. Sessions read it
// before their greeting, see gateway/session.
package proxyheader
