// Package embedded runs the etcd that comes with the program, for installations that bring none of their own.
//
// etcd ends its process when it can't go on, as on a full disk, and decisions must not end with it. So it runs in a
// process of its own: Serve is the body of `pointsman store`, and Supervise starts the same binary again with that
// command and keeps it running. Calling Serve inside another process is for tests and development only.
//
// This is the only package that may import etcd's server. It must not know what is stored; package store does.
// Everything is in one folder, DataDir/store: the lock, the sockets and etcd's data. There is one member, reached over a
// socket or the loopback interface: whoever wants several members brings an etcd cluster.
package embedded
