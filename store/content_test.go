package store

import (
	"bytes"
	"errors"
	"testing"
)

func TestPackIsDeterministic(t *testing.T) {
	b := bytes.Repeat([]byte("rule "), 1<<20)
	first, err := pack(b)
	if err != nil {
		t.Fatal(err)
	}
	second, err := pack(b)
	if err != nil || first.blob != second.blob || first.digest != second.digest {
		t.Error(first.blob, second.blob, err)
	}
}

func TestUnpackRefuses(t *testing.T) {
	p, err := pack(make([]byte, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	compressed := bytes.Join(p.chunks, nil)
	good := Manifest{Digest: p.digest, Size: p.size}
	for name, change := range map[string]func(*Manifest, *[]byte){
		"digest":     func(m *Manifest, _ *[]byte) { m.Digest = hash(nil) },
		"smaller":    func(m *Manifest, _ *[]byte) { m.Size = 1 },
		"larger":     func(m *Manifest, _ *[]byte) { m.Size = MaxBytes },
		"negative":   func(m *Manifest, _ *[]byte) { m.Size = -1 },
		"enormous":   func(m *Manifest, _ *[]byte) { m.Size = 1 << 62 },
		"cut":        func(_ *Manifest, b *[]byte) { *b = (*b)[:len(*b)-1] },
		"empty":      func(_ *Manifest, b *[]byte) { *b = nil },
		"other":      func(_ *Manifest, b *[]byte) { *b = []byte("not compressed at all") },
		"twice":      func(_ *Manifest, b *[]byte) { *b = append(bytes.Clone(*b), *b...) },
		"bit change": func(_ *Manifest, b *[]byte) { *b = bytes.Clone(*b); (*b)[len(*b)/2] ^= 1 },
	} {
		m, b := good, compressed
		change(&m, &b)
		if _, err := unpack(m, b); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := unpack(good, compressed); err != nil || len(got) != 1<<20 {
		t.Error(len(got), err)
	}
}

func FuzzUnpack(f *testing.F) {
	for _, content := range [][]byte{nil, []byte("a"), bytes.Repeat([]byte("rule "), 1000)} {
		p, err := pack(content)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(p.size, p.digest, bytes.Join(p.chunks, nil))
	}
	f.Fuzz(func(t *testing.T, size int64, digest string, compressed []byte) {
		b, err := unpack(Manifest{Size: size, Digest: digest}, compressed)
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
		if err == nil && hash(b) != digest {
			t.Fatal("wrong bytes were accepted")
		}
	})
}
