package lastgood

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ErrDamaged means that the file is there but can't be trusted. Treat it as absent, loudly.
var ErrDamaged = errors.New("last good copy is damaged")

// magic begins the first line of a file and names the file format.
const magic = "pointsman-lastgood 1 "

// Record is a configuration and where it came from.
type Record struct {
	// StoreID is the UUID of the store.
	StoreID string `json:"store_id"`
	// Generation is the number in that store.
	Generation uint64 `json:"generation"`
	// Digest is the SHA-256 of Bytes in hex. Save fills it in when it is empty.
	Digest string `json:"digest"`
	// Format is the number of the format of Bytes.
	Format uint32 `json:"format"`
	// Time says when the configuration was taken into use.
	Time time.Time `json:"time"`
	// Bytes is the configuration exactly as it was received.
	Bytes []byte `json:"-"`
}

// Save replaces the file at path, readable by its owner only. After a crash at any moment either the old or the new
// record is there. One Save at a time for each path; the folder must exist. The file is one line with the SHA-256 of
// the rest, one line of JSON, and the bytes.
func Save(path string, r Record) error {
	digest := sum(r.Bytes)
	if r.Digest == "" {
		r.Digest = digest
	}
	if r.Digest != digest {
		return fmt.Errorf("save %s: the bytes have digest %s, not %s", path, digest, r.Digest)
	}
	header, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	rest := append(append(header, '\n'), r.Bytes...)
	content := append([]byte(magic+sum(rest)+"\n"), rest...)

	tmp := path + ".tmp"
	if err := writeSynced(tmp, content); err != nil {
		return fmt.Errorf("save %s: %w", path, errors.Join(err, removeIfThere(tmp)))
	}
	if err := os.Rename(tmp, path); err != nil {
		return fmt.Errorf("save %s: %w", path, errors.Join(err, removeIfThere(tmp)))
	}
	if err := syncFolder(filepath.Dir(path)); err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	return nil
}

// Remove takes away what Save wrote, for good: it does not come back after a crash. That there is none is no error.
func Remove(path string) error {
	if err := removeIfThere(path); err != nil {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	if err := syncFolder(filepath.Dir(path)); err != nil {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	return nil
}

// Load reads what Save wrote. Errors: fs.ErrNotExist when there is no file, ErrDamaged when it is not whole.
func Load(path string) (Record, error) {
	content, err := os.ReadFile(path) //nolint:gosec // The path is the operator's.
	if err != nil {
		return Record{}, fmt.Errorf("load last good copy: %w", err)
	}
	r, err := parse(content)
	if err != nil {
		return Record{}, fmt.Errorf("load %s: %w", path, err)
	}
	return r, nil
}

func parse(content []byte) (Record, error) {
	first, rest, ok := bytes.Cut(content, []byte("\n"))
	if !ok || !bytes.HasPrefix(first, []byte(magic)) {
		return Record{}, fmt.Errorf("%w: it does not begin with %q", ErrDamaged, magic)
	}
	if string(first[len(magic):]) != sum(rest) {
		return Record{}, fmt.Errorf("%w: the checksum is wrong", ErrDamaged)
	}
	header, body, ok := bytes.Cut(rest, []byte("\n"))
	if !ok {
		return Record{}, fmt.Errorf("%w: the header has no end", ErrDamaged)
	}
	var r Record
	if err := json.Unmarshal(header, &r); err != nil {
		return Record{}, fmt.Errorf("%w: header: %w", ErrDamaged, err)
	}
	if r.Digest != sum(body) {
		return Record{}, fmt.Errorf("%w: the digest is wrong", ErrDamaged)
	}
	r.Bytes = body
	return r, nil
}

func writeSynced(path string, content []byte) (err error) {
	// A file left by a crash is removed first, so that its mode doesn't stay.
	if err := removeIfThere(path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // The path is the operator's.
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(content); err != nil {
		return err
	}
	return f.Sync()
}

// syncFolder makes the rename itself last.
func syncFolder(path string) (err error) {
	d, err := os.Open(path) //nolint:gosec // The path is the operator's.
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return d.Sync()
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}
