package lastgood

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func record() Record {
	return Record{
		StoreID: "4a0e64e6-9ce5-4c5b-8f6f-5b0f9f1c7d11", Generation: 42, Format: 1,
		Time:  time.Date(2026, 11, 30, 8, 0, 0, 5, time.UTC),
		Bytes: []byte("line\nanother\x00line\n"),
	}
}

func TestSaveLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.lastgood")
	for _, generation := range []uint64{41, 42} {
		want := record()
		want.Generation = generation
		if err := Save(path, want); err != nil {
			t.Fatal(err)
		}
		got, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		want.Digest = sum(want.Bytes)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("folder holds %v, %v", entries, err)
	}
}

func TestSaveReplacesLeftover(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.lastgood")
	if err := os.WriteFile(path+".tmp", []byte("half a record"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Save(path, record()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
}

func TestSaveRefuses(t *testing.T) {
	wrong := record()
	wrong.Digest = strings.Repeat("0", 64)
	if err := Save(filepath.Join(t.TempDir(), "f"), wrong); err == nil {
		t.Error("a wrong digest was saved")
	}
	if err := Save(filepath.Join(t.TempDir(), "absent", "f"), record()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent folder: %v", err)
	}
}

func TestRemove(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := Save(path, record()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := Remove(path); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
	if err := Remove(filepath.Join(t.TempDir(), "absent", "f")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent folder: %v", err)
	}
}

func TestLoadAbsent(t *testing.T) {
	_, err := Load(filepath.Join(t.TempDir(), "f"))
	if !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
}

// TestLoadDamaged flips each byte and cuts at each length.
func TestLoadDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := Save(path, record()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		flipped := bytes.Clone(whole)
		flipped[i] ^= 0x20
		for what, content := range map[string][]byte{"flipped": flipped, "cut": whole[:i]} {
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Load(path); !errors.Is(err, ErrDamaged) {
				t.Fatalf("%s at %d: %v", what, i, err)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	path := filepath.Join(f.TempDir(), "f")
	if err := Save(path, record()); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte(magic + sum([]byte("{}\n")) + "\n{}\n"))
	f.Add([]byte(magic + sum(nil) + "\n"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, content []byte) {
		r, err := parse(content)
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		if r.Digest != sum(r.Bytes) {
			t.Fatal("a record with a wrong digest was accepted")
		}
	})
}
