package clients

import (
	"bytes"
	"fmt"
	"regexp"
	"testing"
)

// delimiter ends statements in the command line client's input, which may hold semicolons.
const delimiter = "//"

// extendedType is what the server tells of types such as JSON only in MariaDB's extension of the protocol, which the
// gateway does not speak.
var extendedType = regexp.MustCompile(` \((type|format)=\w+\)`)

// mariadbCLI plays statements with the command line client, which shows columns' types and warnings as well.
func mariadbCLI(t *testing.T, p *play, host, port string) []byte {
	t.Helper()
	var in bytes.Buffer
	in.WriteString("DELIMITER " + delimiter + "\n")
	for i, s := range p.steps {
		text := s.text.bytes()
		switch s.op {
		case "query", "raw", "stream":
			if len(bytes.TrimSpace(text)) == 0 || bytes.Contains(text, []byte(delimiter)) {
				continue
			}
		case "begin", "commit", "rollback":
			text = []byte(s.op)
		case "autocommit":
			text = []byte("SET autocommit = " + s.name)
		case "use":
			fmt.Fprintf(&in, "USE %s\n", s.name)
			continue
		case "charset":
			fmt.Fprintf(&in, "charset %s\n", s.name)
			continue
		case "warnings":
			text = []byte("SHOW WARNINGS")
		default:
			continue
		}
		// The marker must be no statement.
		fmt.Fprintf(&in, "system echo '> %d'\n", i+1)
		in.Write(text)
		in.WriteString(delimiter + "\n")
	}
	out := run(t, p.dir, in.Bytes(), "mariadb", "--no-defaults", "--host="+host, "--port="+port, "--protocol=tcp", "--user="+user, "--password="+password,
		"--default-character-set=utf8mb4", "--max-allowed-packet=64M", "--local-infile=1", "--unbuffered", "--force", "--batch", "--column-type-info",
		"--show-warnings", "--comments", "-v", "-v", schema)
	return append(extendedType.ReplaceAll(out, nil), "\n"+endOfScript...)
}
