package api

import (
	"google.golang.org/grpc"

	"github.com/pointsman/pointsman/decision/live"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/loaded"
)

// WatchGeneration tells the generation in force now and whenever it changes.
func (s *Decision) WatchGeneration(_ *decisionv1.WatchGenerationRequest, stream grpc.ServerStreamingServer[decisionv1.WatchGenerationResponse]) error {
	return eachGeneration(stream, s.live, s.stop, func(g *loaded.Generation) error {
		resp := &decisionv1.WatchGenerationResponse{}
		if g != nil {
			resp.Generation, resp.Digest = g.Number, g.Digest
		}
		return stream.Send(resp)
	})
}

// eachGeneration calls f with the generation in force (nil: none) and whenever it changes, until the stream ends or
// the server stops. If f is slow, generations in between are left out.
func eachGeneration(stream grpc.ServerStream, holder *live.Holder[loaded.Generation], stop <-chan struct{}, f func(*loaded.Generation) error) error {
	for {
		changed := holder.Changed() // before the generation is read, so that no change is missed
		if err := f(holder.Current()); err != nil {
			return err
		}
		select {
		case <-changed:
		case <-stream.Context().Done():
			return toStatus(stream.Context().Err())
		case <-stop:
			return toStatus(errStopping)
		}
	}
}
