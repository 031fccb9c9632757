package loaded

import (
	"google.golang.org/protobuf/proto"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// Credentials are the stored passwords by user. The zero value has none.
type Credentials map[string]credential

type credential struct {
	password        *string
	backendUsername string
	backendPassword *string
}

// NewCredentials takes the passwords of users.
func NewCredentials(users []*configv1.User) Credentials {
	c := make(Credentials, len(users))
	for _, u := range users {
		c[u.GetUsername()] = credential{
			password:        u.Password,
			backendUsername: u.GetBackendUsername(),
			backendPassword: u.BackendPassword,
		}
	}
	return c
}

// FillIn gives cfg with the stored passwords where a user has none. A backend_password is filled in only for the
// backend_username it belongs to. cfg itself is not changed.
func (c Credentials) FillIn(cfg *configv1.Config) *configv1.Config {
	var users []*configv1.User // made when the first user changes
	for i, u := range cfg.GetUsers() {
		stored, known := c[u.GetUsername()]
		if !known {
			continue
		}
		needsPassword := u.Password == nil && stored.password != nil
		needsBackend := u.BackendPassword == nil && stored.backendPassword != nil && u.GetBackendUsername() == stored.backendUsername
		if !needsPassword && !needsBackend {
			continue
		}
		if users == nil {
			users = append(users, cfg.GetUsers()...)
		}
		users[i] = proto.CloneOf(u)
		if needsPassword {
			users[i].Password = stored.password
		}
		if needsBackend {
			users[i].BackendPassword = stored.backendPassword
		}
	}
	if users == nil {
		return cfg
	}
	return withUsers(cfg, users)
}

// Strip gives cfg without any passwords. cfg itself is not changed.
func Strip(cfg *configv1.Config) *configv1.Config {
	users := make([]*configv1.User, len(cfg.GetUsers()))
	for i, u := range cfg.GetUsers() {
		users[i] = proto.CloneOf(u)
		users[i].Password, users[i].BackendPassword = nil, nil
	}
	return withUsers(cfg, users)
}

// withUsers gives cfg with other users; the rest is shared.
func withUsers(cfg *configv1.Config, users []*configv1.User) *configv1.Config {
	return &configv1.Config{
		Settings:         cfg.GetSettings(),
		Hostgroups:       cfg.GetHostgroups(),
		Servers:          cfg.GetServers(),
		Users:            users,
		QueryRules:       cfg.GetQueryRules(),
		FastRoutes:       cfg.GetFastRoutes(),
		Guideline:        cfg.GetGuideline(),
		GuidelineBinding: cfg.GetGuidelineBinding(),
		Guidelines:       cfg.GetGuidelines(),
		ActiveGuideline:  cfg.GetActiveGuideline(),
	}
}
