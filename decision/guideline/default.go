package guideline

import (
	_ "embed" // the documents are files
	"fmt"
)

// The documents that MySQL Shell writes for a topology (section 11.4 of the specification).
var (
	//go:embed default_cluster.json
	defaultCluster []byte
	//go:embed default_clusterset.json
	defaultClusterSet []byte
	//go:embed default_replicaset.json
	defaultReplicaSet []byte
)

// Default gives the document to start from for a kind of topology: cluster, clusterset or replicaset.
func Default(kind string) ([]byte, error) {
	switch kind {
	case "cluster":
		return append([]byte(nil), defaultCluster...), nil
	case "clusterset":
		return append([]byte(nil), defaultClusterSet...), nil
	case "replicaset":
		return append([]byte(nil), defaultReplicaSet...), nil
	default:
		return nil, fmt.Errorf("default guideline: no topology %q, use cluster, clusterset or replicaset", kind)
	}
}
