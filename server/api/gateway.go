package api

import (
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/guideline"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	"github.com/pointsman/pointsman/server/loaded"
	"github.com/pointsman/pointsman/server/translate"
)

// WatchGatewayConfig tells a gateway everything it needs, then each part that changes. As long as no generation is
// loaded it tells generation 0 and no parts at all: a gateway then keeps what it has.
func (s *Config) WatchGatewayConfig(req *configv1.WatchGatewayConfigRequest, stream grpc.ServerStreamingServer[configv1.WatchGatewayConfigResponse]) error {
	ctx := stream.Context()
	s.log.InfoContext(ctx, "a gateway subscribed", "instance", req.GetInstance())
	defer s.log.InfoContext(ctx, "a gateway left", "instance", req.GetInstance())
	var sent told
	var sequence uint64
	for {
		// Before they are read, so that no change is missed. What is observed is read last: the names of a generation are known
		// before it is in force.
		generations, observations := s.live.Changed(), s.observed.Changed()
		now := told{generation: s.live.Current(), runtime: s.observed.Current()}
		if now.generation == nil {
			now.runtime = nil
		}
		if now != sent || sequence == 0 {
			sequence++
			resp := changes(&sent, &now)
			resp.Sequence = sequence
			if err := stream.Send(resp); err != nil {
				return err
			}
			sent = now
		}
		select {
		case <-generations:
		case <-observations:
		case <-ctx.Done():
			return toStatus(ctx.Err())
		case <-s.stop:
			return toStatus(errStopping)
		}
	}
}

// told is what a gateway was told last. The runtime is nil as long as there is no generation.
type told struct {
	generation *loaded.Generation
	runtime    *decision.Runtime
}

// changes holds the parts that are not the same in before.
func changes(before, now *told) *configv1.WatchGatewayConfigResponse {
	resp := &configv1.WatchGatewayConfigResponse{}
	g := now.generation
	if g == nil {
		return resp
	}
	resp.Generation = g.Number
	var old loaded.Gateway
	if before.generation != nil {
		old = before.generation.Gateway
	}
	resp.Users = changed(&old.Users, &g.Gateway.Users)
	resp.Servers = changed(&old.Servers, &g.Gateway.Servers)
	resp.Settings = changed(&old.Settings, &g.Gateway.Settings)
	resp.Guideline = changed(&old.Guideline, &g.Gateway.Guideline)
	if now.runtime != before.runtime || resp.GetGuideline() != nil {
		resp.Runtime = runtimeToProto(g, now.runtime)
	}
	return resp
}

func runtimeToProto(g *loaded.Generation, rt *decision.Runtime) *configv1.RuntimeState {
	var wanted []guideline.Host
	if guide := g.Core.Guide(); guide != nil {
		wanted = guide.Guideline().Hosts()
	}
	return translate.RuntimeToProto(rt, wanted)
}

// changed gives a part unless the old one is the same. The zero part is the same as no other.
func changed[M proto.Message](old, now *loaded.Part[M]) M {
	if old.Sum == now.Sum {
		var same M
		return same
	}
	return now.Message
}
