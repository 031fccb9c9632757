package mysql

// MaxFragment is the largest payload of one packet in bytes. A payload of at least this size goes on in the next
// packet, which is empty when nothing is left.
const MaxFragment = 1<<24 - 1

// Capability flags of the handshake, named as in MySQL without their CLIENT_ prefix.
const (
	CapLongPassword     uint32 = 1 << 0 // Unset by MariaDB servers, which then speak of extended capabilities.
	CapFoundRows        uint32 = 1 << 1
	CapLongFlag         uint32 = 1 << 2
	CapConnectWithDB    uint32 = 1 << 3
	CapCompress         uint32 = 1 << 5
	CapODBC             uint32 = 1 << 6
	CapLocalFiles       uint32 = 1 << 7
	CapIgnoreSpace      uint32 = 1 << 8
	CapProtocol41       uint32 = 1 << 9
	CapInteractive      uint32 = 1 << 10
	CapSSL              uint32 = 1 << 11
	CapTransactions     uint32 = 1 << 13
	CapSecureConnection uint32 = 1 << 15
	CapMultiStatements  uint32 = 1 << 16
	CapMultiResults     uint32 = 1 << 17
	CapPSMultiResults   uint32 = 1 << 18
	CapPluginAuth       uint32 = 1 << 19
	CapConnectAttrs     uint32 = 1 << 20
	CapLenencAuth       uint32 = 1 << 21
	CapSessionTrack     uint32 = 1 << 23
	CapDeprecateEOF     uint32 = 1 << 24
	CapQueryAttributes  uint32 = 1 << 27
)

// BaseCapabilities are those that concern only the gateway's own login of its clients.
const BaseCapabilities = CapLongPassword | CapLongFlag | CapConnectWithDB | CapProtocol41 | CapTransactions |
	CapSecureConnection | CapPluginAuth | CapConnectAttrs | CapLenencAuth

// MirroredCapabilities are those whose effect is on the server's side or on the form of the stream: a backend
// connection has exactly those that its client negotiated.
const MirroredCapabilities = CapFoundRows | CapODBC | CapLocalFiles | CapIgnoreSpace | CapInteractive |
	CapMultiStatements | CapMultiResults | CapPSMultiResults | CapDeprecateEOF

// OfferedCapabilities returns what a listener may offer to its clients: [BaseCapabilities] and those of
// [MirroredCapabilities] that every server has. Without servers, DEPRECATE_EOF is left out as well, since old servers lack it.
func OfferedCapabilities(servers ...uint32) uint32 {
	mirrored := MirroredCapabilities
	if len(servers) == 0 {
		mirrored &^= CapDeprecateEOF
	}
	for _, s := range servers {
		mirrored &= s
	}
	return BaseCapabilities | mirrored
}

// Server status flags of OK and EOF packets, named as in MySQL without their SERVER_ prefix.
const (
	StatusInTrans             uint16 = 1 << 0
	StatusAutocommit          uint16 = 1 << 1
	StatusMoreResultsExists   uint16 = 1 << 3
	StatusCursorExists        uint16 = 1 << 6
	StatusLastRowSent         uint16 = 1 << 7
	StatusNoBackslashEscapes  uint16 = 1 << 9
	StatusInTransReadonly     uint16 = 1 << 13
	StatusSessionStateChanged uint16 = 1 << 14
	StatusANSIQuotes          uint16 = 1 << 15 // MariaDB's own.
)

// Command bytes.
const (
	ComSleep            byte = 0x00
	ComQuit             byte = 0x01
	ComInitDB           byte = 0x02
	ComQuery            byte = 0x03
	ComFieldList        byte = 0x04
	ComCreateDB         byte = 0x05
	ComDropDB           byte = 0x06
	ComRefresh          byte = 0x07
	ComShutdown         byte = 0x08
	ComStatistics       byte = 0x09
	ComProcessInfo      byte = 0x0a
	ComConnect          byte = 0x0b
	ComProcessKill      byte = 0x0c
	ComDebug            byte = 0x0d
	ComPing             byte = 0x0e
	ComTime             byte = 0x0f
	ComDelayedInsert    byte = 0x10
	ComChangeUser       byte = 0x11
	ComBinlogDump       byte = 0x12
	ComTableDump        byte = 0x13
	ComConnectOut       byte = 0x14
	ComRegisterReplica  byte = 0x15
	ComStmtPrepare      byte = 0x16
	ComStmtExecute      byte = 0x17
	ComStmtSendLongData byte = 0x18
	ComStmtClose        byte = 0x19
	ComStmtReset        byte = 0x1a
	ComSetOption        byte = 0x1b
	ComStmtFetch        byte = 0x1c
	ComDaemon           byte = 0x1d
	ComBinlogDumpGTID   byte = 0x1e
	ComResetConnection  byte = 0x1f
)

// Names of the authentication plugins this package knows.
const (
	PluginNative      = "mysql_native_password"
	PluginCachingSHA2 = "caching_sha2_password"
)

// First bytes of packets.
const (
	headOK        byte = 0x00
	headMoreData  byte = 0x01
	headInfile    byte = 0xfb
	headEOF       byte = 0xfe
	headErr       byte = 0xff
	shortEOFLimit      = 9 // A packet with headEOF below this length is an EOF, else a row.
)
