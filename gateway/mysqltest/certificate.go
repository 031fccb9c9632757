package mysqltest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority is a certificate authority that exists for one test.
type Authority struct {
	Pool *x509.CertPool // It alone.
	File string         // Its certificate in PEM.

	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	last int64 // serial number
}

// NewAuthority makes one.
func NewAuthority(tb testing.TB) *Authority {
	tb.Helper()
	a := &Authority{Pool: x509.NewCertPool(), last: 1}
	a.key = newKey(tb)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.last), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	if err != nil {
		tb.Fatalf("make an authority: %v", err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		tb.Fatalf("read the authority: %v", err)
	}
	a.Pool.AddCert(a.cert)
	a.File = writePEM(tb, tb.TempDir(), "ca.pem", "CERTIFICATE", der)
	return a
}

// Issue makes a certificate for host names and IP addresses, for servers and clients, and writes it to files in PEM.
func (a *Authority) Issue(tb testing.TB, names ...string) (cert tls.Certificate, certFile, keyFile string) {
	tb.Helper()
	a.last++
	key := newKey(tb)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.last), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		tb.Fatalf("make a certificate: %v", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		tb.Fatalf("encode a key: %v", err)
	}
	dir := tb.TempDir()
	certFile = writePEM(tb, dir, "cert.pem", "CERTIFICATE", der)
	keyFile = writePEM(tb, dir, "key.pem", "PRIVATE KEY", keyDER)
	if cert, err = tls.LoadX509KeyPair(certFile, keyFile); err != nil {
		tb.Fatalf("load a certificate: %v", err)
	}
	return cert, certFile, keyFile
}

func newKey(tb testing.TB) *ecdsa.PrivateKey {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatalf("make a key: %v", err)
	}
	return key
}

func writePEM(tb testing.TB, dir, name, kind string, der []byte) (path string) {
	tb.Helper()
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		tb.Fatalf("write a certificate: %v", err)
	}
	return path
}
