package gateway

import (
	"crypto/tls"
	"log/slog"
	"os"
	"sync"
	"time"
)

// reloadInterval is how often files of certificates are looked at, at most.
const reloadInterval = time.Second

// certificate is a certificate with its key from two files, which is read again when they have changed: handshakes after that
// use the new one. While the files can't be read the old one stays.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger
	now               func() time.Time

	mu      sync.Mutex
	pair    *tls.Certificate
	looked  time.Time
	version fileVersion // of the files that were read last, whether they were good or not
}

// fileVersion tells one state of the two files from another.
type fileVersion struct {
	certTime, keyTime time.Time
	certSize, keySize int64
}

// newCertificate reads the files.
func newCertificate(certFile, keyFile string, log *slog.Logger) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log, now: time.Now}
	c.looked, c.version = c.now(), c.look()
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	c.pair = &pair
	return c, err
}

// current gives the certificate for a handshake.
func (c *certificate) current() *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if now.Sub(c.looked) < reloadInterval {
		return c.pair
	}
	c.looked = now
	version := c.look()
	if version == c.version {
		return c.pair
	}
	c.version = version
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		c.log.Error("the changed certificate can't be used, the old one stays", "certificate", c.certFile, "key", c.keyFile, "error", err)
		return c.pair
	}
	c.pair = &pair
	c.log.Info("certificate read again", "certificate", c.certFile, "valid_until", pair.Leaf.NotAfter)
	return c.pair
}

// look gives the files' state as it is now. A file that is not there has none.
func (c *certificate) look() fileVersion {
	var v fileVersion
	if info, err := os.Stat(c.certFile); err == nil {
		v.certTime, v.certSize = info.ModTime(), info.Size()
	}
	if info, err := os.Stat(c.keyFile); err == nil {
		v.keyTime, v.keySize = info.ModTime(), info.Size()
	}
	return v
}
