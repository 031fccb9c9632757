package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/klauspost/compress/zstd"
)

const (
	// MaxBytes is the most that a generation may hold before compression.
	MaxBytes = 512 << 20

	// chunkSize keeps a put well below etcd's request limit of 1.5 MiB. It belongs to the layout: the same bytes must
	// be cut the same way by every release.
	chunkSize = 512 << 10

	// maxChunks leaves three of the 128 operations of an etcd transaction for the manifest, head and the rejection.
	maxChunks = 125
	// maxStoredChunks is what may be found in a store: there were generations before there were rejections.
	maxStoredChunks = 126
)

// packed is content ready for upload.
type packed struct {
	digest string
	blob   string
	size   int64
	chunks [][]byte
}

func (p packed) compressedSize() int64 {
	var n int64
	for _, c := range p.chunks {
		n += int64(len(c))
	}
	return n
}

// pack compresses and cuts.
func pack(b []byte) (packed, error) {
	if len(b) > MaxBytes {
		return packed{}, fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, len(b), MaxBytes)
	}
	// One goroutine and fixed settings give the same output for the same input.
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true))
	if err != nil {
		return packed{}, fmt.Errorf("compress: %w", err)
	}
	compressed := enc.EncodeAll(b, nil)
	if err := enc.Close(); err != nil {
		return packed{}, fmt.Errorf("compress: %w", err)
	}
	if len(compressed) > maxChunks*chunkSize {
		return packed{}, fmt.Errorf("%w: %d bytes are %d bytes when compressed, the limit is %d (%d chunks of %d bytes)",
			ErrTooLarge, len(b), len(compressed), maxChunks*chunkSize, maxChunks, chunkSize)
	}
	return packed{
		digest: hash(b),
		blob:   hash(compressed),
		size:   int64(len(b)),
		chunks: slices.Collect(slices.Chunk(compressed, chunkSize)),
	}, nil
}

// unpack is pack's reverse. It never allocates much more than the manifest promises.
func unpack(m Manifest, compressed []byte) ([]byte, error) {
	if m.Size < 0 || m.Size > MaxBytes {
		return nil, fmt.Errorf("%w: manifest says %d bytes", ErrCorrupt, m.Size)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(max(m.Size, 1<<20))))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	defer dec.Close()
	b, err := dec.DecodeAll(compressed, make([]byte, 0, min(m.Size, int64(len(compressed))*64)))
	if err != nil {
		return nil, fmt.Errorf("%w: decompress: %w", ErrCorrupt, err)
	}
	if int64(len(b)) != m.Size || hash(b) != m.Digest {
		return nil, fmt.Errorf("%w: %d bytes with digest %s instead of %d with %s",
			ErrCorrupt, len(b), hash(b), m.Size, m.Digest)
	}
	return b, nil
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
