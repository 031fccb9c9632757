package decision_test

import (
	"fmt"

	"github.com/pointsman/pointsman/decision"
)

// The classic split: SELECT ... FOR UPDATE and writes to hostgroup 10, other SELECTs to hostgroup 20.
func Example() {
	generation, problems := decision.Compile(1, &decision.Config{
		Users: []decision.User{{Username: "app", Password: new("secret"), DefaultHostgroup: 10}},
		QueryRules: []decision.QueryRule{
			{RuleID: 1, MatchDigest: new("^SELECT.*FOR UPDATE$"), DestinationHostgroup: new(int64(10)), Apply: true},
			{RuleID: 2, MatchDigest: new("^SELECT"), DestinationHostgroup: new(int64(20)), Apply: true},
		},
	})
	if problems.HasErrors() {
		fmt.Println(problems)
		return
	}

	var answer decision.Answer // reused from statement to statement
	for _, sql := range []string{"SELECT name FROM users WHERE id = 7", "UPDATE users SET name = 'x' WHERE id = 7"} {
		question := decision.Question{
			Session: decision.Session{
				Username:             "app",
				NextQueryFlagIn:      decision.None,
				TransactionHostgroup: decision.None,
				LockedHostgroup:      decision.None,
				KeptRoute:            decision.None,
			},
			Statement: decision.Statement{Text: []byte(sql), HasText: true},
		}
		if err := generation.Route(&question, &answer); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(answer.DestinationHostgroup, answer.MatchedRules, string(answer.DigestText))
	}
	// Output:
	// 20 [2] SELECT name FROM users WHERE id = ?
	// 10 [] UPDATE users SET name = ? WHERE id = ?
}
