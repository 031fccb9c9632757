package mysql

import "fmt"

// changeUser is the content of a COM_CHANGE_USER.
type changeUser struct {
	user, schema, plugin string
	auth                 []byte
	charset              byte // 0 when the client did not send one.
	attrs                map[string]string
}

// parseChangeUser reads a payload, whose first byte is the command, of a connection that negotiated caps.
func parseChangeUser(payload []byte, caps uint32) (changeUser, error) {
	f := fields{b: payload}
	f.u8()
	u := changeUser{user: string(f.bytesNUL()), plugin: PluginNative}
	u.auth = f.take(uint64(f.u8()))
	u.schema = string(f.bytesNUL())
	if len(f.b) >= 2 {
		u.charset = byte(f.u16() & 0xff)
		if caps&CapPluginAuth != 0 && len(f.b) > 0 {
			u.plugin = string(f.bytesNUL())
		}
		if caps&CapConnectAttrs != 0 && len(f.b) > 0 {
			u.attrs = f.attrs()
		}
	}
	if f.bad {
		return changeUser{}, fmt.Errorf("change user: %w", ErrMalformedPacket)
	}
	return u, nil
}
