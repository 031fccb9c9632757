package gateway

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
)

// The modes of --tls-mode.
const (
	tlsDisabled  = "disabled"
	tlsPreferred = "preferred"
	tlsRequired  = "required"
)

// The modes of --server-tls-verify.
const (
	verifyNone     = "none"
	verifyCA       = "ca"
	verifyIdentity = "identity"
)

// sessionCacheSize is how many servers' TLS sessions are kept for quicker logins.
const sessionCacheSize = 1024

// checkTLS checks the flags before any file is read, and gives those that were not set their defaults.
func (c *Config) checkTLS() error {
	switch {
	case (c.TLSCert == "") != (c.TLSKey == ""):
		return errors.New("flags --tls-cert and --tls-key belong together")
	case (c.ServerTLSCert == "") != (c.ServerTLSKey == ""):
		return errors.New("flags --server-tls-cert and --server-tls-key belong together")
	}
	if c.TLSMode == "" {
		c.TLSMode = tlsDisabled
		if c.TLSCert != "" {
			c.TLSMode = tlsPreferred
		}
	}
	if c.ServerTLSVerify == "" {
		c.ServerTLSVerify = verifyNone
		if c.ServerTLSCA != "" {
			c.ServerTLSVerify = verifyIdentity
		}
	}
	switch c.TLSMode {
	case tlsDisabled:
	case tlsPreferred, tlsRequired:
		if c.TLSCert == "" {
			return fmt.Errorf("flag --tls-mode: %s needs a certificate, see --tls-cert and --tls-key", c.TLSMode)
		}
	default:
		return fmt.Errorf("flag --tls-mode: %q is none of disabled, preferred and required", c.TLSMode)
	}
	switch c.ServerTLSVerify {
	case verifyNone:
	case verifyCA, verifyIdentity:
		if c.ServerTLSCA == "" {
			return fmt.Errorf("flag --server-tls-verify: %s needs --server-tls-ca", c.ServerTLSVerify)
		}
	default:
		return fmt.Errorf("flag --server-tls-verify: %q is none of none, ca and identity", c.ServerTLSVerify)
	}
	return nil
}

// clientTLS is how clients are spoken to, nil when TLS is not offered.
func (c *Config) clientTLS(log *slog.Logger) (*tls.Config, error) {
	if c.TLSMode == tlsDisabled {
		return nil, nil //nolint:nilnil // as said
	}
	cert, err := newCertificate(c.TLSCert, c.TLSKey, log)
	if err != nil {
		return nil, fmt.Errorf("flags --tls-cert and --tls-key: %w", err)
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return cert.current(), nil },
		DynamicRecordSizingDisabled: true, // a span of rows is one write
	}, nil
}

// serverTLS is how servers with use_ssl are spoken to.
func (c *Config) serverTLS(log *slog.Logger) (*tls.Config, error) {
	config := &tls.Config{
		MinVersion: tls.VersionTLS12, ClientSessionCache: tls.NewLRUClientSessionCache(sessionCacheSize), DynamicRecordSizingDisabled: true,
	}
	if c.ServerTLSCA != "" {
		pem, err := os.ReadFile(c.ServerTLSCA)
		if err != nil {
			return nil, fmt.Errorf("flag --server-tls-ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("flag --server-tls-ca: %s holds no PEM certificate", c.ServerTLSCA)
		}
	}
	switch c.ServerTLSVerify {
	case verifyNone:
		config.InsecureSkipVerify = true // the operator's choice, and MySQL's own default
	case verifyCA:
		config.InsecureSkipVerify = true // replaced by a check without the name
		config.VerifyConnection = func(s tls.ConnectionState) error { return verifyChain(s, config.RootCAs) }
	}
	if c.ServerTLSCert != "" {
		cert, err := newCertificate(c.ServerTLSCert, c.ServerTLSKey, log)
		if err != nil {
			return nil, fmt.Errorf("flags --server-tls-cert and --server-tls-key: %w", err)
		}
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return cert.current(), nil }
	}
	return config, nil
}

// verifyChain checks a server's certificate against the authorities, whatever its name.
func verifyChain(s tls.ConnectionState, roots *x509.CertPool) error {
	if len(s.PeerCertificates) == 0 {
		return errors.New("the server has no certificate")
	}
	between := x509.NewCertPool()
	for _, cert := range s.PeerCertificates[1:] {
		between.AddCert(cert)
	}
	_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between})
	return err
}
