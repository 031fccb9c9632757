package store

import (
	"bytes"
	"context"
	"errors"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// uploadTTL is how long, in seconds, the chunks of an abandoned upload stay.
const uploadTTL = 60

// upload puts chunks under a short lease, which the publishing transaction takes off. So an upload that never leads to
// a publication vanishes by itself.
type upload struct {
	store *Store
	lease clientv3.LeaseID
}

// ensure makes sure that all chunks are there and sound. It can be repeated.
func (u *upload) ensure(ctx context.Context, p packed) error {
	for i, chunk := range p.chunks {
		if err := u.ensureChunk(ctx, u.store.keys.chunk(p.blob, i), chunk); err != nil {
			return err
		}
	}
	return nil
}

func (u *upload) ensureChunk(ctx context.Context, key string, chunk []byte) error {
	var err error
	for range 3 {
		var present []byte
		if present, err = u.putAbsent(ctx, key, chunk); err == nil && !bytes.Equal(present, chunk) {
			err = u.repair(ctx, key, chunk)
		}
		switch {
		case err == nil:
			return nil
		case errors.Is(err, rpctypes.ErrLeaseNotFound):
			u.lease = clientv3.NoLease
		case errors.Is(err, rpctypes.ErrKeyNotFound):
			// The damaged chunk went away before it could be repaired.
		case refused(err), !pause(ctx, retryPause):
			return explain("write", key, err)
		}
	}
	return explain("write", key, err)
}

// putAbsent creates the chunk under the lease, or returns what is there. Whatever is there keeps its lease or keeps
// having none: a chunk of a published generation must not come under a lease again.
func (u *upload) putAbsent(ctx context.Context, key string, chunk []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, u.store.timeout)
	defer cancel()
	if u.lease == clientv3.NoLease {
		grant, err := u.store.client.Grant(ctx, uploadTTL)
		if err != nil {
			return nil, err
		}
		u.lease = grant.ID
	}
	resp, err := u.store.kv.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
		Then(clientv3.OpPut(key, string(chunk), clientv3.WithLease(u.lease))).
		Else(clientv3.OpGet(key)).
		Commit()
	if err != nil {
		return nil, err
	}
	if resp.Succeeded {
		return chunk, nil
	}
	return resp.Responses[0].GetResponseRange().GetKvs()[0].GetValue(), nil
}

// repair overwrites a damaged chunk in place, which is right since its key says what it must hold.
func (u *upload) repair(ctx context.Context, key string, chunk []byte) error {
	u.store.log.ErrorContext(ctx, "a stored chunk is damaged and is written again", "key", key)
	ctx, cancel := context.WithTimeout(ctx, u.store.timeout)
	defer cancel()
	_, err := u.store.kv.Put(ctx, key, string(chunk), clientv3.WithIgnoreLease())
	return err
}

// end gives the lease back, and with it every chunk that was not published. It does not try long, since the lease ends
// by itself.
func (u *upload) end(ctx context.Context) {
	if u.lease == clientv3.NoLease {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(u.store.timeout, time.Second))
	defer cancel()
	if _, err := u.store.client.Revoke(ctx, u.lease); err != nil {
		u.store.log.DebugContext(ctx, "the lease of an upload ends by itself", "error", err)
	}
}
