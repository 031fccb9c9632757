package api

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
)

const (
	// maxMessage holds a statement of 64 MiB, or a configuration with hundreds of thousands of fast routes.
	maxMessage = 72 << 20

	// minClientPing is how often a client may probe the connection. Gateways do every 10 s.
	minClientPing = 5 * time.Second

	// How many bytes a client may send before this side has taken them, on a stream and on a connection. With windows
	// of its own choice gRPC would measure the connection by a ping for nearly every message.
	streamWindow     = 1 << 20
	connectionWindow = 4 << 20
)

// ServerOptions are those of every gRPC server that these services run on, but for interceptors.
func ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.MaxRecvMsgSize(maxMessage),
		grpc.InitialWindowSize(streamWindow),
		grpc.InitialConnWindowSize(connectionWindow),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minClientPing, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 30 * time.Second, Timeout: 10 * time.Second}),
	}
}
