package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
)

// regainSpace mends a store that had reached its quota, so that a restart is all that its operator has to do: it
// compacts what is superseded, gives the space back and lets writes in again. If that is not enough, etcd closes itself
// to writes again with the next one.
func regainSpace(ctx context.Context, e *embed.Etcd, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	alarms, err := e.Server.Alarm(ctx, &pb.AlarmRequest{Action: pb.AlarmRequest_GET, Alarm: pb.AlarmType_NOSPACE})
	if err != nil {
		return fmt.Errorf("read alarms: %w", err)
	}
	if len(alarms.GetAlarms()) == 0 {
		return nil
	}
	before := e.Server.Backend().Size()
	_, err = e.Server.Compact(ctx, &pb.CompactionRequest{Revision: e.Server.KV().Rev(), Physical: true})
	if err != nil && !errors.Is(err, mvcc.ErrCompacted) {
		return fmt.Errorf("compact: %w", err)
	}
	if err := e.Server.Backend().Defrag(); err != nil {
		return fmt.Errorf("defragment: %w", err)
	}
	for _, alarm := range alarms.GetAlarms() {
		_, err := e.Server.Alarm(ctx, &pb.AlarmRequest{
			Action: pb.AlarmRequest_DEACTIVATE, Alarm: alarm.GetAlarm(), MemberID: alarm.GetMemberID(),
		})
		if err != nil {
			return fmt.Errorf("disarm: %w", err)
		}
	}
	log.WarnContext(ctx, "the store had reached its quota; old revisions were removed and it takes writes again",
		"bytes_before", before, "bytes", e.Server.Backend().Size(), "quota_bytes", e.Server.Cfg.QuotaBackendBytes)
	return nil
}
