package store

import (
	"encoding/json"
	"fmt"
	"time"
)

// Content is what is published: a configuration's bytes and the number of the format they are in.
type Content struct {
	// Bytes must be deterministic: equal configurations give equal bytes. At most MaxBytes long.
	Bytes []byte
	// Format lets a reader refuse what it is too old for before trying.
	Format uint32
}

// Meta says who publishes and why.
type Meta struct {
	// Author is at most 256 bytes.
	Author string
	// Note is at most 4096 bytes.
	Note string
	// Above makes the new generation's number greater than this one as well. A server passes the generation it runs,
	// so that a publication after the restore of an old backup is followed at once.
	Above uint64
}

// Manifest describes one generation. It is immutable, and is stored as JSON.
type Manifest struct {
	// Generation counts 1, 2, 3, ...; a rollback has a new number.
	Generation uint64 `json:"generation"`
	// Digest is the SHA-256 of the uncompressed bytes in hex.
	Digest string `json:"digest"`
	// ParentDigest is the digest of the generation that this one replaced, empty for the first.
	ParentDigest string `json:"parent_digest,omitempty"`
	// RollbackOf is the generation whose content was taken again, 0 if this is no rollback.
	RollbackOf uint64 `json:"rollback_of,omitempty"`
	// Format is Content's.
	Format uint32 `json:"format"`
	// Size is the number of uncompressed bytes.
	Size int64 `json:"size"`
	// CompressedSize is the number of bytes in all chunks.
	CompressedSize int64 `json:"compressed_size"`
	// Blob is the SHA-256 of the compressed bytes in hex and names the chunks. Addressing them by their own hash keeps
	// chunks apart that two releases of the compressor made of the same bytes.
	Blob string `json:"blob"`
	// Chunks is how many chunks the compressed bytes are cut into.
	Chunks int `json:"chunks"`
	// PublicationID is unique for each publication, so that its author can recognise it.
	PublicationID string `json:"publication_id"`
	// Author and Note are Meta's.
	Author string `json:"author,omitempty"`
	Note   string `json:"note,omitempty"`
	// Time is the publisher's clock, in UTC.
	Time time.Time `json:"time"`
}

// Head says which generation is in force. Generation 0 means that nothing was published yet.
type Head struct {
	// StoreID is the UUID of the store, empty as long as the store was never written to.
	StoreID string `json:"-"`
	// The rest repeats the manifest.
	Generation    uint64    `json:"generation"`
	Digest        string    `json:"digest"`
	Format        uint32    `json:"format"`
	Size          int64     `json:"size"`
	PublicationID string    `json:"publication_id"`
	Time          time.Time `json:"time"`

	// Rejection is the last publication if it was refused, else nil. It belongs to the store, not to the generation.
	Rejection *Rejection `json:"-"`

	modRevision int64
}

// cluster is written once, when a store is first used.
type cluster struct {
	StoreID       string `json:"store_id"`
	LayoutVersion int    `json:"layout_version"`
}

func (m Manifest) head() Head {
	return Head{
		Generation: m.Generation, Digest: m.Digest, Format: m.Format, Size: m.Size,
		PublicationID: m.PublicationID, Time: m.Time,
	}
}

func encode(v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encode %T: %w", v, err)
	}
	return string(b), nil
}

func decode(key string, value []byte, v any) error {
	if err := json.Unmarshal(value, v); err != nil {
		return fmt.Errorf("decode %s: %w: %w", key, ErrCorrupt, err)
	}
	return nil
}
