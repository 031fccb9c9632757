package feed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pointsman/pointsman/store"
	"github.com/pointsman/pointsman/store/lastgood"
)

// rejectionFormat is the form of a refused publication on disk: the JSON of store.Rejection.
const rejectionFormat = 1

func (f *Feed) rejectionPath() string { return f.Path + ".refused" }

// loadRejection tells the state of the refused publication on disk, unless what is in force came after it.
func (f *Feed) loadRejection(ctx context.Context) {
	path := f.rejectionPath()
	record, err := lastgood.Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil && record.Format != rejectionFormat {
		err = fmt.Errorf("its form is %d, known is %d", record.Format, rejectionFormat)
	}
	var r store.Rejection
	if err == nil {
		err = json.Unmarshal(record.Bytes, &r)
	}
	if err != nil {
		f.log.ErrorContext(ctx, "the copy of the last refused publication is of no use; waiting for the store", "path", path, "error", err)
		return
	}
	f.kept = &record
	if record.StoreID == f.running.StoreID && record.Generation < f.running.Generation {
		return
	}
	f.State.Recall(ctx, &r)
}

// keepRejection makes the file tell what the store does. What fails is logged once and tried again when head is read again.
func (f *Feed) keepRejection(ctx context.Context, head *store.Head) {
	now, err := recordOf(head)
	if err == nil && f.kept != nil && sameRefusal(f.kept, now) {
		return
	}
	if err == nil {
		if now.Bytes == nil {
			err = lastgood.Remove(f.rejectionPath())
		} else {
			err = lastgood.Save(f.rejectionPath(), *now)
		}
	}
	if err != nil {
		if !f.unkept {
			f.log.ErrorContext(ctx, "whether the last publication was refused could not be saved, it is tried again; a restart without the store would tell another state",
				"error", err)
		}
		f.kept, f.unkept = nil, true
		return
	}
	f.kept, f.unkept = now, false
}

// recordOf is what is kept of the refused publication that head tells of. Without one it has no bytes.
func recordOf(head *store.Head) (*lastgood.Record, error) {
	r := head.Rejection
	if r == nil {
		return &lastgood.Record{}, nil
	}
	b, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode the refused publication: %w", err)
	}
	return &lastgood.Record{StoreID: head.StoreID, Generation: head.Generation, Format: rejectionFormat, Time: r.Time, Bytes: b}, nil
}

func sameRefusal(a, b *lastgood.Record) bool {
	return a.StoreID == b.StoreID && a.Generation == b.Generation && bytes.Equal(a.Bytes, b.Bytes)
}
