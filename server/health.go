package server

import (
	"context"
	"time"

	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

const (
	healthInterval = time.Second
	// storeSilence is three times the interval at which the store is asked.
	storeSilence = 15 * time.Second
)

// keepHealth reports the health of the services until ctx ends: the whole server and the DecisionService serve when a
// generation is in force, the ConfigService when the store can be reached.
func keepHealth(ctx context.Context, h *health.Server, canDecide func() bool, changed func() <-chan struct{}, lastConfirmed func() time.Time) {
	ticker := time.NewTicker(healthInterval)
	defer ticker.Stop()
	for {
		next := changed() // before the look, so that no change is missed
		decisions := servingIf(canDecide())
		h.SetServingStatus("", decisions)
		h.SetServingStatus(decisionv1.DecisionService_ServiceDesc.ServiceName, decisions)
		h.SetServingStatus(configv1.ConfigService_ServiceDesc.ServiceName, servingIf(time.Since(lastConfirmed()) < storeSilence))
		select {
		case <-next:
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

func servingIf(ok bool) healthv1.HealthCheckResponse_ServingStatus {
	if ok {
		return healthv1.HealthCheckResponse_SERVING
	}
	return healthv1.HealthCheckResponse_NOT_SERVING
}
