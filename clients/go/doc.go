// Package client is the thin Go client of Pointsman's decision and configuration services: it dials several
// servers, keeps one long-lived stream for decisions with many questions in flight, reconnects, fails over
// to healthy servers, and follows configuration changes.
//
// It must not decide, cache or validate anything, and must not import the server, the decision core or etcd.
// The MySQL gateway (gateway/route) and pointsmanctl (clients/ctl) are built on it; the messages are in
// proto/pointsman/decision/v1 and proto/pointsman/config/v1.
package client
