package embedded

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
)

// maxSocketPath stays below the 104 to 108 bytes that systems allow for the path of a socket.
const maxSocketPath = 100

// plainPath matches paths that mean the same as a path and inside a URL.
var plainPath = regexp.MustCompile(`^[A-Za-z0-9/._-]+$`)

// Endpoint is where the store of a data directory is reached, running or not, unless it was given a ClientURL. It has
// the form that store.Options takes.
func Endpoint(dataDir string) string {
	return "unix://" + filepath.Join(socketDir(dataDir), clientSocket)
}

const (
	clientSocket = "client.sock"
	peerSocket   = "peer.sock"
)

func storeDir(dataDir string) string {
	abs, err := filepath.Abs(dataDir)
	if err != nil {
		abs = dataDir // Only without a working directory; then opening it fails and says so.
	}
	return filepath.Join(abs, "store")
}

// socketDir is the store's folder or, if that makes no good socket path, one for it under the temporary folder.
func socketDir(dataDir string) string {
	dir := storeDir(dataDir)
	if len(dir)+1+len(clientSocket) <= maxSocketPath && plainPath.MatchString(dir) {
		return dir
	}
	sum := sha256.Sum256([]byte(dir))
	name := "pointsman-" + strconv.Itoa(os.Getuid()) + "-" + hex.EncodeToString(sum[:8])
	temp := filepath.Join(os.TempDir(), name)
	if len(temp)+1+len(clientSocket) <= maxSocketPath && plainPath.MatchString(temp) {
		return temp
	}
	return filepath.Join("/tmp", name)
}

// makePrivate makes a folder that only its owner can enter. One that is there already must be just that: in a shared
// temporary folder someone else could have made it.
func makePrivate(dir string) error {
	if err := os.Mkdir(dir, 0o700); err == nil || !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(owner.Uid) != os.Getuid() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s must be a folder of user %d that nobody else can enter (mode 0700), it is %v",
			dir, os.Getuid(), info.Mode())
	}
	return nil
}
