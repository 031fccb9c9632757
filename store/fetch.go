package store

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Fetch returns the bytes and the manifest of a generation. The digest of the bytes is verified. Errors: ErrNotFound,
// ErrCorrupt, ErrUnavailable.
func (s *Store) Fetch(ctx context.Context, generation uint64) ([]byte, Manifest, error) {
	m, err := s.manifest(ctx, generation)
	if err != nil {
		return nil, Manifest{}, err
	}
	compressed, err := s.chunks(ctx, m)
	if errors.Is(err, ErrCorrupt) {
		// A missing chunk is no damage if the generation was collected meanwhile.
		if _, again := s.manifest(ctx, generation); errors.Is(again, ErrNotFound) {
			err = again
		}
	}
	if err != nil {
		return nil, Manifest{}, err
	}
	b, err := unpack(m, compressed)
	if err != nil {
		return nil, Manifest{}, fmt.Errorf("fetch generation %d: %w", generation, err)
	}
	return b, m, nil
}

// List returns the manifests that the store still has, newest first, at most limit of them (0: all).
func (s *Store) List(ctx context.Context, limit int) ([]Manifest, error) {
	prefix := s.keys.generations()
	resp, err := s.read(ctx, clientv3.OpGet(prefix, clientv3.WithPrefix(),
		clientv3.WithSort(clientv3.SortByKey, clientv3.SortDescend), clientv3.WithLimit(int64(limit))))
	if err != nil {
		return nil, explain("list", prefix, err)
	}
	kvs := resp.Responses[0].GetResponseRange().GetKvs()
	ms := make([]Manifest, len(kvs))
	for i, kv := range kvs {
		if ms[i], err = decodeManifest(kv); err != nil {
			return nil, err
		}
	}
	return ms, nil
}

func (s *Store) manifest(ctx context.Context, generation uint64) (Manifest, error) {
	key := s.keys.generation(generation)
	resp, err := s.read(ctx, clientv3.OpGet(key))
	if err != nil {
		return Manifest{}, explain("read", key, err)
	}
	kvs := resp.Responses[0].GetResponseRange().GetKvs()
	if len(kvs) == 0 {
		return Manifest{}, fmt.Errorf("generation %d: %w", generation, ErrNotFound)
	}
	m, err := decodeManifest(kvs[0])
	if err != nil {
		return Manifest{}, err
	}
	if m.Generation != generation {
		return Manifest{}, fmt.Errorf("read %s: %w: it says generation %d", key, ErrCorrupt, m.Generation)
	}
	return m, nil
}

func (s *Store) chunks(ctx context.Context, m Manifest) ([]byte, error) {
	if m.Chunks < 1 || m.Chunks > maxStoredChunks || m.CompressedSize < 0 || m.CompressedSize > int64(m.Chunks)*chunkSize {
		return nil, fmt.Errorf("fetch generation %d: %w: manifest says %d bytes in %d chunks",
			m.Generation, ErrCorrupt, m.CompressedSize, m.Chunks)
	}
	compressed := make([]byte, 0, m.CompressedSize)
	// One call for each chunk gives each its own deadline and keeps answers small.
	for i := range m.Chunks {
		key := s.keys.chunk(m.Blob, i)
		resp, err := s.read(ctx, clientv3.OpGet(key))
		if err != nil {
			return nil, explain("read", key, err)
		}
		kvs := resp.Responses[0].GetResponseRange().GetKvs()
		if len(kvs) == 0 {
			return nil, fmt.Errorf("fetch generation %d: %w: chunk %d of %d is missing", m.Generation, ErrCorrupt, i+1, m.Chunks)
		}
		compressed = append(compressed, kvs[0].GetValue()...)
	}
	return compressed, nil
}

func decodeManifest(kv *mvccpb.KeyValue) (Manifest, error) {
	var m Manifest
	err := decode(string(kv.GetKey()), kv.GetValue(), &m)
	return m, err
}
