package store

import (
	"context"
	"path"
	"slices"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// keep is how many generations stay for rollback, the one in force included.
	keep = 20
	// deletesPerTxn keeps collections from holding up other requests.
	deletesPerTxn = 16
)

// GC deletes manifests beyond the newest 20 and then chunks that no manifest names. Chunks outlive their last
// manifest until the next collection, so that whoever just read the manifest can still fetch them. Chunks under a lease
// belong to an upload and are left alone. Publish calls it; it is safe beside any other call.
func (s *Store) GC(ctx context.Context) error {
	resp, err := s.read(ctx,
		clientv3.OpGet(s.keys.head()),
		clientv3.OpGet(s.keys.generations(), clientv3.WithPrefix()),
		clientv3.OpGet(s.keys.blobs(), clientv3.WithPrefix(), clientv3.WithKeysOnly()))
	if err != nil {
		return explain("collect", s.keys.generations(), err)
	}
	manifests := resp.Responses[1].GetResponseRange().GetKvs()
	used := make(map[string]bool)
	for _, kv := range manifests {
		m, err := decodeManifest(kv)
		if err != nil {
			return err // What a damaged manifest names is not known, so nothing is deleted.
		}
		used[m.Blob] = true
	}
	var old []*mvccpb.KeyValue
	if len(manifests) > keep {
		var head Head
		for _, kv := range resp.Responses[0].GetResponseRange().GetKvs() {
			if err := decode(s.keys.head(), kv.GetValue(), &head); err != nil {
				return err
			}
		}
		current := s.keys.generation(head.Generation)
		old = slices.DeleteFunc(manifests[:len(manifests)-keep], func(kv *mvccpb.KeyValue) bool {
			return string(kv.GetKey()) == current
		})
	}
	if err := s.deleteUnchanged(ctx, old); err != nil {
		return err
	}
	unused := make(map[string][]*mvccpb.KeyValue)
	for _, kv := range resp.Responses[2].GetResponseRange().GetKvs() {
		if blob := path.Base(path.Dir(string(kv.GetKey()))); !used[blob] {
			unused[blob] = append(unused[blob], kv)
		}
	}
	for _, chunks := range unused {
		if err := s.deleteUnchanged(ctx, chunks); err != nil {
			return err
		}
	}
	return nil
}

// deleteUnchanged deletes keys in small transactions. A batch in which any key was touched since it was read is left
// for the next collection, since a publication may just have taken the chunk into use; so is one under a lease. (A
// read of keys without their values does not tell the lease.)
func (s *Store) deleteUnchanged(ctx context.Context, kvs []*mvccpb.KeyValue) error {
	for batch := range slices.Chunk(kvs, deletesPerTxn) {
		var unchanged []clientv3.Cmp
		var deletes []clientv3.Op
		for _, kv := range batch {
			key := string(kv.GetKey())
			unchanged = append(unchanged,
				clientv3.Compare(clientv3.ModRevision(key), "=", kv.GetModRevision()),
				clientv3.Compare(clientv3.LeaseValue(key), "=", clientv3.NoLease))
			deletes = append(deletes, clientv3.OpDelete(key))
		}
		callCtx, cancel := context.WithTimeout(ctx, s.timeout)
		_, err := s.kv.Txn(callCtx).If(unchanged...).Then(deletes...).Commit()
		cancel()
		if err != nil {
			return explain("collect", string(batch[0].GetKey()), err)
		}
	}
	return nil
}
