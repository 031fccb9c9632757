package casefile_test

import (
	"strings"
	"testing"

	"github.com/pointsman/pointsman/clients/casefile"
)

// guided is a case file with a guideline in its configuration.
func guided(cases string) string {
	document := `{\"version\":\"1.1\",\"name\":\"g\",\"destinations\":[{\"name\":\"p\",\"match\":\"$.server.memberRole=PRIMARY\"},{\"name\":\"s\",\"match\":\"$.server.memberRole=SECONDARY\"}],` +
		`\"routes\":[{\"name\":\"canary\",\"match\":\"$.session.randomValue >= 0.9\",\"destinations\":[{\"classes\":[\"p\"],\"strategy\":\"round-robin\",\"priority\":0}]},` +
		`{\"name\":\"batch\",\"match\":\"$.session.connectAttrs.program_name = 'batch job'\",\"destinations\":[{\"classes\":[\"s\"],\"strategy\":\"round-robin\",\"priority\":0},{\"classes\":[\"p\"],\"strategy\":\"round-robin\",\"priority\":1}]},` +
		`{\"name\":\"near\",\"match\":\"$.router.tags.zone = 'eu'\",\"destinations\":[{\"classes\":[\"s\"],\"strategy\":\"round-robin\",\"priority\":0}]}]}`
	with := strings.Replace(config, `"QueryRules"`, `"Guideline": "`+document+`", "GuidelineBinding": {"WriterHostgroup": 10, "ReaderHostgroup": 20}, "QueryRules"`, 1)
	return "user: app\n-- config.json --\n" + with + "\n" + cases
}

func TestGuideline(t *testing.T) {
	_, results := run(t, guided(`-- routes --
> SELECT 1
reason: guideline
guideline.route: unset
destination_hostgroup: unset
error_msg: no route of the routing guideline "g" matches this session
connect_attr: _os=Linux
connect_attr: program_name=batch job
> SELECT 1
guideline.guideline: g
guideline.route: batch
guideline.mode: read
guideline.pools: read:batch write:batch
eligible_servers: db2:3306
> UPDATE t SET a = 1
guideline.mode: write
eligible_servers: db1:3306
random_value: 0.95
> SELECT 1
guideline.route: canary
eligible_servers: db1:3306
random_value: unset
connect_attr: unset
router: name=gw1
router: tags.zone=eu
router: routeName=ro
> UPDATE t SET a = 1
guideline.route: near
guideline.mode: all
router: unset
> SELECT 1
guideline.route: unset
-- elsewhere --
> /* hostgroup=30 */ SELECT 1
guideline.guideline: unset
guideline.mode: unset
guideline.pools: unset
`))
	if got := failures(results); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// TestGuidelineExplained wants the command that shows a statement's way to say all that the guideline looked at.
func TestGuidelineExplained(t *testing.T) {
	_, results := run(t, guided(`-- a --
connect_attr: program_name=batch job
connect_attr: a=b
router: tags.zone=us
router: port.rw=6446
> SELECT 1
guideline.route: near
`))
	want := "--config config.json --user app --connect-attr a=b --connect-attr program_name=batch job --random-value 0 --router port.rw=6446 --router tags.zone=\"us\" SELECT 1"
	if got := strings.Join(results[0].Failures[0].Explain, " "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestGuidelineMistakes(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"connect_attr: a", "write NAME=VALUE"},
		{"random_value: 1", `"1" is no number from 0 to below 1, nor unset`},
		{"random_value: NaN", "is no number"},
		{"router: port.rw=x", "router.port.rw: expected NUMBER but got STRING"},
		{"router: zone=x", "there is no such variable"},
	} {
		_, err := casefile.Parse("x.cases", []byte("-- a --\n"+tt.line+"\n> SELECT 1\nreason: rule\n"))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.line, err)
		}
	}
	if _, err := casefile.Parse("x.cases", []byte("config: c.yaml\n-- a --\n> SELECT 1\nguideline.mode: write\nreason: guideline\n")); err != nil {
		t.Error(err)
	}
	if _, err := casefile.Parse("x.cases", []byte("-- a --\n> SELECT 1\nguideline.mode: both\n")); err == nil || !strings.Contains(err.Error(), "none of all, write, read") {
		t.Errorf("%v", err)
	}
}
