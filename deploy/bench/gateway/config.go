package gateway

import (
	"fmt"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// ruleCount is how many rules the decision server has.
const ruleCount = 1000

// hostgroup has the only server. sysbench's statements are led there by the last rule.
const hostgroup = 1

// config has the rules, all on the digest text. Only the last one matches what sysbench asks, so it is what all of
// them have to be looked at for; other statements go to the user's default hostgroup.
func config(database int) *configv1.Config {
	cfg := &configv1.Config{
		Servers: []*configv1.Server{{HostgroupId: hostgroup, Hostname: "127.0.0.1", Port: new(uint32(database)), MaxConnections: new(int64(4000))}},
		Users:   []*configv1.User{{Username: user, Password: new(password), DefaultHostgroup: hostgroup, DefaultSchema: schema, MaxConnections: new(uint32(4000))}},
	}
	for i := range ruleCount {
		expr := fmt.Sprintf("^SELECT .* FROM table_%04d WHERE ", i)
		if i == ruleCount-1 {
			expr = "^SELECT .*FROM sbtest"
		}
		cfg.QueryRules = append(cfg.QueryRules, &configv1.QueryRule{
			RuleId: int64(i + 1), MatchDigest: &expr, DestinationHostgroup: new(int64(hostgroup)), Apply: true,
		})
	}
	return cfg
}
