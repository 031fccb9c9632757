package api_test

import (
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	"github.com/pointsman/pointsman/server/api"
)

func TestWatchGatewayConfig(t *testing.T) {
	f := newFixture(t)
	stream, err := f.WatchGatewayConfig(patience(t), &configv1.WatchGatewayConfigRequest{Instance: "test"})
	if err != nil {
		t.Fatal(err)
	}
	var sequence uint64
	next := func(generation uint64, users, servers, settings bool) *configv1.WatchGatewayConfigResponse {
		t.Helper()
		resp, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		sequence++
		if resp.GetGeneration() != generation || resp.GetSequence() != sequence {
			t.Errorf("generation %d, sequence %d, want %d and %d", resp.GetGeneration(), resp.GetSequence(), generation, sequence)
		}
		if (resp.GetUsers() != nil) != users || (resp.GetServers() != nil) != servers || (resp.GetSettings() != nil) != settings {
			t.Errorf("parts of generation %d: %v, want users %t, servers %t, settings %t", generation, resp, users, servers, settings)
		}
		return resp
	}
	next(0, false, false, false)

	cfg := split()
	cfg.Users = append(cfg.Users, &configv1.User{Username: "gone", Password: new(""), DefaultHostgroup: 10, Active: new(false)})
	f.publish(t, cfg)
	first := next(1, true, true, true)
	if users := first.GetUsers().GetUsers(); len(users) != 1 || users[0].GetPassword() != "secret" || !users[0].GetActive() ||
		!users[0].GetTransactionPersistent() || users[0].GetMaxConnections() != 10000 {
		t.Errorf("users %v", users)
	}
	if s := first.GetServers().GetServers(); len(s) != 2 || s[0].GetPort() != 3306 || s[0].GetWeight() != 1 ||
		s[0].GetStatus() != "ONLINE" || s[0].GetMaxConnections() != 1000 || s[0].GetHostname() != "writer" {
		t.Errorf("servers %v", s)
	}
	fields := first.GetSettings().ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if !first.GetSettings().ProtoReflect().Has(fields.Get(i)) {
			t.Errorf("setting %s has no default", fields.Get(i).Name())
		}
	}

	cfg.QueryRules = nil
	f.publish(t, cfg)
	next(2, false, false, false) // a new generation even so
	cfg.Servers[1].Weight = proto.Int64(5)
	f.publish(t, cfg)
	next(3, false, true, false)
	cfg.Settings = &configv1.Settings{DefaultQueryTimeout: proto.Uint32(5000)}
	f.publish(t, cfg)
	next(4, false, false, true)
	cfg.Users[0].Password = new("other")
	f.publish(t, cfg)
	next(5, true, false, false)

	f.stop()
	_, err = stream.Recv()
	wantError(t, err, codes.Unavailable, api.ReasonServerStopping)
}
