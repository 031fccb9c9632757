package mysql

import (
	"net"
	"time"
)

// KeepAlive finds out within some 75 s that the other side of an idle connection has vanished without a word.
func KeepAlive() net.KeepAliveConfig {
	return net.KeepAliveConfig{Enable: true, Idle: time.Minute, Interval: 3 * time.Second, Count: 5}
}

// userTimeout is how long the other side may leave sent bytes unacknowledged, or its window shut, until it counts as
// vanished. It is above what slow clients are allowed (SetWriteTimeout).
const userTimeout = 150 * time.Second
