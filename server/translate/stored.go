package translate

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// Format is the number of the stored form that Marshal writes: the Config message in proto's binary encoding.
const Format = 1

// ErrFormat means that a stored configuration was written by a newer release.
var ErrFormat = errors.New("stored configuration has a newer form than this release understands")

// Marshal gives the stored form of a configuration, with inactive rules and credentials. Equal configurations give
// equal bytes.
func Marshal(cfg *configv1.Config) ([]byte, error) {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(cfg)
	if err != nil {
		return nil, fmt.Errorf("marshal configuration: %w", err)
	}
	return b, nil
}

// Unmarshal reads what Marshal wrote. A form or a field that this release does not know is ErrFormat: a rule whose
// predicate is dropped would match what it must not.
func Unmarshal(format uint32, b []byte) (*configv1.Config, error) {
	if format != Format {
		return nil, fmt.Errorf("unmarshal configuration: %w: %d, known is %d", ErrFormat, format, Format)
	}
	cfg := &configv1.Config{}
	if err := proto.Unmarshal(b, cfg); err != nil {
		return nil, fmt.Errorf("unmarshal configuration: %w", err)
	}
	if path := UnknownField(cfg); path != "" {
		return nil, fmt.Errorf("unmarshal configuration: %w: unknown field in %s", ErrFormat, path)
	}
	return cfg, nil
}

// UnknownField gives the path of the first part of cfg that came with a field this release does not know, e.g.
// "query_rules[3]"; empty when there is none.
func UnknownField(cfg *configv1.Config) string {
	if path, found := unknownField(cfg.ProtoReflect(), wholeConfig); found {
		return path
	}
	return ""
}

// wholeConfig is the path of what is in no field.
const wholeConfig = "config"

func unknownField(m protoreflect.Message, path string) (at string, found bool) {
	if len(m.GetUnknown()) > 0 {
		return path, true
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		name := string(f.Name())
		if path != wholeConfig {
			name = path + "." + name
		}
		switch {
		case f.IsMap():
			if f.MapValue().Message() == nil {
				return true
			}
			v.Map().Range(func(key protoreflect.MapKey, value protoreflect.Value) bool {
				at, found = unknownField(value.Message(), fmt.Sprintf("%s[%q]", name, key.String()))
				return !found
			})
		case f.Message() == nil:
		case f.IsList():
			list := v.List()
			for i := range list.Len() {
				if at, found = unknownField(list.Get(i).Message(), fmt.Sprintf("%s[%d]", name, i)); found {
					return false
				}
			}
		default:
			at, found = unknownField(v.Message(), name)
		}
		return !found
	})
	return at, found
}
