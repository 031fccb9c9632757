package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	maxAuthor = 256
	maxNote   = 4096

	// overtakenWait bounds how long a publication without an expected generation starts again after others.
	overtakenWait = 30 * time.Second
	// unknownTries bounds how often a transaction without an answer is sent again.
	unknownTries = 3
	retryPause   = 20 * time.Millisecond
	// maxRetryPause is where retryPause stops to double.
	maxRetryPause = 320 * time.Millisecond
)

// Publish makes content the next generation. If expected is given and another generation than that is in force, the
// result is a *ConflictError; otherwise publications that race come one after the other. Equal content published twice
// gives two generations that share their chunks. Errors: ErrConflict, ErrOvertaken, ErrTooLarge, ErrNoSpace, ErrPermission,
// ErrUnavailable (nothing was published), ErrUnknownOutcome.
func (s *Store) Publish(ctx context.Context, content Content, meta Meta, expected *uint64) (Manifest, error) {
	p, err := pack(content.Bytes)
	if err != nil {
		return Manifest{}, fmt.Errorf("publish: %w", err)
	}
	return s.advance(ctx, &publication{
		manifest: Manifest{
			Digest: p.digest, Format: content.Format, Size: p.size, CompressedSize: p.compressedSize(),
			Blob: p.blob, Chunks: len(p.chunks),
		},
		upload: &p,
	}, meta, expected)
}

// Rollback publishes the content of an earlier generation as a new, higher one. The content is verified first, so that
// no damaged generation comes into force. Errors: ErrNotFound, ErrCorrupt and those of Publish.
func (s *Store) Rollback(ctx context.Context, generation uint64, meta Meta, expected *uint64) (Manifest, error) {
	_, old, err := s.Fetch(ctx, generation)
	if err != nil {
		return Manifest{}, fmt.Errorf("roll back: %w", err)
	}
	old.RollbackOf = generation
	return s.advance(ctx, &publication{manifest: old}, meta, expected)
}

// publication is one attempt to become the next generation.
type publication struct {
	manifest Manifest
	// upload is nil when the chunks are already published.
	upload *packed
}

// outcome of a transaction that tried to move head.
type outcome int

const (
	committed outcome = iota
	// overtaken means that head has moved.
	overtaken
	// chunksLost means that a chunk went away between its upload and the transaction.
	chunksLost
	// unknown means that no answer came.
	unknown
	// failed means that etcd surely did nothing, and will not.
	failed
)

// advance publishes. Each round reads head, makes sure of the chunks and tries to move head.
func (s *Store) advance(ctx context.Context, p *publication, meta Meta, expected *uint64) (Manifest, error) {
	if len(meta.Author) > maxAuthor || len(meta.Note) > maxNote {
		return Manifest{}, fmt.Errorf("publish: author or note: %w: the limits are %d and %d bytes", ErrTooLarge, maxAuthor, maxNote)
	}
	if _, err := s.ClusterID(ctx); err != nil {
		return Manifest{}, fmt.Errorf("publish: %w", err)
	}
	m := &p.manifest
	m.PublicationID, m.Author, m.Note = uuid.NewString(), meta.Author, meta.Note

	up := &upload{store: s}
	defer up.end(ctx)
	var unanswered int
	var lost error
	wait := retryPause
	for end := time.Now().Add(overtakenWait); time.Now().Before(end); wait = min(2*wait, maxRetryPause) {
		head, err := s.Head(ctx)
		if err != nil {
			return Manifest{}, notPublished(err, lost)
		}
		if lost != nil && head.Generation >= m.Generation {
			// A transaction whose answer was lost may have been carried out since.
			stored, mine, err := s.recognise(ctx, *m)
			if err != nil {
				return Manifest{}, notPublished(err, lost)
			}
			if mine {
				return s.published(ctx, stored)
			}
			lost = nil // Another has its place, so it can't be carried out any more.
		}
		if expected != nil && *expected != head.Generation {
			return Manifest{}, &ConflictError{Expected: *expected, Current: head.Generation}
		}
		m.Generation, m.ParentDigest, m.Time = max(head.Generation, meta.Above)+1, head.Digest, time.Now().UTC()
		if p.upload != nil {
			if err := up.ensure(ctx, *p.upload); err != nil {
				return Manifest{}, notPublished(err, lost)
			}
		}

		result, err := s.move(ctx, head, *m)
		switch result {
		case committed:
			return s.published(ctx, *m)
		case overtaken:
		case chunksLost:
			if p.upload == nil {
				return Manifest{}, fmt.Errorf("roll back: generation %d: %w", m.RollbackOf, ErrNotFound)
			}
		case failed:
			return Manifest{}, notPublished(err, lost)
		case unknown:
			lost = err
			if stored, mine, err := s.recognise(context.WithoutCancel(ctx), *m); err == nil && mine {
				return s.published(ctx, stored)
			}
			if unanswered++; unanswered == unknownTries {
				return Manifest{}, notPublished(lost, lost)
			}
		}
		if !pause(ctx, wait) {
			return Manifest{}, notPublished(explain("publish", s.keys.head(), ctx.Err()), lost)
		}
	}
	return Manifest{}, notPublished(ErrOvertaken, lost)
}

// move tries to put the manifest and head, and to take back a rejection, in one transaction. Touching the chunks there takes their lease off, and
// makes a collection that wants to delete them at the same time fail.
func (s *Store) move(ctx context.Context, head Head, m Manifest) (outcome, error) {
	manifestValue, err := encode(m)
	if err != nil {
		return failed, err
	}
	headValue, err := encode(m.head())
	if err != nil {
		return failed, err
	}
	headKey, key := s.keys.head(), s.keys.generation(m.Generation)
	conditions := []clientv3.Cmp{
		clientv3.Compare(clientv3.ModRevision(headKey), "=", head.modRevision),
		clientv3.Compare(clientv3.CreateRevision(key), "=", 0),
	}
	changes := []clientv3.Op{
		clientv3.OpPut(key, manifestValue), clientv3.OpPut(headKey, headValue), clientv3.OpDelete(s.keys.rejection()),
	}
	for i := range m.Chunks {
		chunk := s.keys.chunk(m.Blob, i)
		conditions = append(conditions, clientv3.Compare(clientv3.CreateRevision(chunk), ">", 0))
		changes = append(changes, clientv3.OpPut(chunk, "", clientv3.WithIgnoreValue()))
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	resp, err := s.kv.Txn(ctx).
		If(conditions...).
		Then(changes...).
		Else(clientv3.OpGet(headKey), clientv3.OpGet(key, clientv3.WithKeysOnly())).
		Commit()
	switch {
	case err != nil && refused(err):
		return failed, explain("publish", headKey, err)
	case err != nil:
		return unknown, explain("publish", headKey, err)
	case resp.Succeeded:
		return committed, nil
	}
	var modRevision int64
	if kvs := resp.Responses[0].GetResponseRange().GetKvs(); len(kvs) > 0 {
		modRevision = kvs[0].GetModRevision()
	}
	if modRevision != head.modRevision {
		return overtaken, nil
	}
	if len(resp.Responses[1].GetResponseRange().GetKvs()) > 0 {
		return failed, fmt.Errorf("%w: %s exists although head is at generation %d", ErrCorrupt, key, head.Generation)
	}
	return chunksLost, nil
}

// recognise reads the generation that m wanted to be and says whether it is m.
func (s *Store) recognise(ctx context.Context, m Manifest) (Manifest, bool, error) {
	stored, err := s.manifest(ctx, m.Generation)
	switch {
	case errors.Is(err, ErrNotFound):
		return Manifest{}, false, nil
	case err != nil:
		return Manifest{}, false, err
	default:
		return stored, stored.PublicationID == m.PublicationID, nil
	}
}

// notPublished is the error of a publication that ends with err. If an answer was lost before and could not be
// recovered, nobody knows whether it was published.
func notPublished(err, lost error) error {
	if lost != nil {
		return fmt.Errorf("publish: %w: %w", ErrUnknownOutcome, err)
	}
	return fmt.Errorf("publish: %w", err)
}

// published ends a publication. Old generations are collected here, since this is when there is one more.
func (s *Store) published(ctx context.Context, m Manifest) (Manifest, error) {
	if err := s.GC(ctx); err != nil {
		s.log.WarnContext(ctx, "old generations were not collected; the next publication tries again", "error", err)
	}
	return m, nil
}
