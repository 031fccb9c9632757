package api

import (
	"google.golang.org/grpc"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	"github.com/pointsman/pointsman/server/loaded"
)

// WatchGatewayConfig tells a gateway everything it needs, then each part that changes. As long as no generation is
// loaded it tells generation 0 and no parts at all: a gateway then keeps what it has.
func (s *Config) WatchGatewayConfig(req *configv1.WatchGatewayConfigRequest, stream grpc.ServerStreamingServer[configv1.WatchGatewayConfigResponse]) error {
	ctx := stream.Context()
	s.log.InfoContext(ctx, "a gateway subscribed", "instance", req.GetInstance())
	defer s.log.InfoContext(ctx, "a gateway left", "instance", req.GetInstance())
	var sent *loaded.Generation
	var sequence uint64
	return eachGeneration(stream, s.live, s.stop, func(g *loaded.Generation) error {
		sequence++
		resp := changes(sent, g)
		resp.Sequence = sequence
		sent = g
		return stream.Send(resp)
	})
}

// changes holds the parts of g that are not the same in before. Both may be nil.
func changes(before, g *loaded.Generation) *configv1.WatchGatewayConfigResponse {
	resp := &configv1.WatchGatewayConfigResponse{}
	if g == nil {
		return resp
	}
	resp.Generation = g.Number
	if before == nil || before.Gateway.Users.Sum != g.Gateway.Users.Sum {
		resp.Users = g.Gateway.Users.Message
	}
	if before == nil || before.Gateway.Servers.Sum != g.Gateway.Servers.Sum {
		resp.Servers = g.Gateway.Servers.Message
	}
	if before == nil || before.Gateway.Settings.Sum != g.Gateway.Settings.Sum {
		resp.Settings = g.Gateway.Settings.Message
	}
	return resp
}
