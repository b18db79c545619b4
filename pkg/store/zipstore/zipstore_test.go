package zipstore_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/store"
	"github.com/ndfile/ndfile/pkg/store/storetest"
	"github.com/ndfile/ndfile/pkg/store/zipstore"
)

// packed is a zip file of values, as the standard library writes it.
func packed(t testing.TB, values map[string][]byte, method uint16, before string) []byte {
	t.Helper()
	var out bytes.Buffer
	out.WriteString(before)
	w := zip.NewWriter(&out)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		m, err := w.CreateHeader(&zip.FileHeader{Name: key, Method: method, Extra: []byte("xx\x02\x00ab")})
		if err == nil {
			_, err = m.Write(values[key])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w.Create("folder/")
	w.SetComment("a comment, PK\x05\x06 in it")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func open(t testing.TB, file []byte) (*zipstore.Store, *storetest.Counter, error) {
	c := storetest.Count(storetest.Filled(map[string][]byte{"z.zip": file}))
	s, err := zipstore.Open(t.Context(), c, "z.zip", zipstore.Options{})
	return s, c, err
}

func TestStore(t *testing.T) {
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		for _, before := range []string{"", "#! something that stands before\n"} {
			t.Run(fmt.Sprint(method, len(before)), func(t *testing.T) {
				storetest.Run(t, func(t *testing.T, values map[string][]byte) store.Reader {
					s, _, err := open(t, packed(t, values, method, before))
					if err != nil {
						t.Fatal(err)
					}
					return s
				})
			})
		}
	}
}

// TestRequests: opening is one request where the directory is short, a value one, and
// ranges of a stored one are ranges of the file.
func TestRequests(t *testing.T) {
	values := map[string][]byte{"a/0": make([]byte, 500_000), "a/1": []byte("small")}
	for i := range values["a/0"] {
		values["a/0"][i] = byte(rand.Int())
	}
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		s, c, err := open(t, packed(t, values, method, ""))
		if err != nil {
			t.Fatal(err)
		}
		if log, _ := c.Taken(); len(log) != 1 {
			t.Errorf("opening: %v", log)
		}
		for key, value := range values {
			buf := make([]byte, len(value)+10)
			if n, rest, err := s.Hold(t.Context(), key, buf); n != len(value) || rest != nil || err != nil {
				t.Errorf("%s: %d, %v", key, n, err)
			}
			if log, _ := c.Taken(); len(log) != 1 {
				t.Errorf("%s: %v", key, log)
			}
		}
		v, err := store.Open(t.Context(), s, "a/0")
		if err != nil {
			t.Fatal(err)
		}
		parts := []store.Part{{Off: 10, Dst: make([]byte, 10)}, {Off: 490_000, Dst: make([]byte, 10)}}
		if err := store.ReadParts(t.Context(), v, parts); err != nil || !bytes.Equal(parts[1].Dst, values["a/0"][490_000:490_010]) {
			t.Error(err)
		}
		if log, n := c.Taken(); method == zip.Store && (len(log) > 3 || n > 1000) || len(log) == 0 {
			t.Errorf("parts: %d bytes, %v", n, log)
		}
	}
}

// TestLastCounts: a member that is there again replaces the one before.
func TestLastCounts(t *testing.T) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, text := range []string{"one", "two", "three"} {
		for _, name := range []string{"k", "l/m"} {
			m, _ := w.Create(name)
			m.Write([]byte(text + name))
		}
	}
	w.Close()
	s, _, err := open(t, out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"k", "l/m"} {
		if got, err := store.ReadAll(t.Context(), s, key, 100); string(got) != "three"+key || err != nil {
			t.Errorf("%s: %q, %v", key, got, err)
		}
	}
	n := 0
	s.List(t.Context(), "", func(store.Entry) error { n++; return nil })
	if n != 2 {
		t.Errorf("%d entries", n)
	}
}

// TestZip64: sizes and places that are in the extra field, and the directory's end of
// Zip64.
func TestZip64(t *testing.T) {
	var b []byte
	u16 := func(v ...uint16) { b = appendAll(b, v) }
	u32 := func(v ...uint32) { b = appendAll(b, v) }
	u64 := func(v ...uint64) { b = appendAll(b, v) }
	const text, crc = "value", 0x1d775834
	u32(0x04034b50)
	u16(45, 0, 0, 0, 0)
	u32(crc, 0xffffffff, 0xffffffff)
	u16(1, 20)
	b = append(b, "k"...)
	u16(1, 16)
	u64(5, 5)
	b = append(b, text...)
	dir := len(b)
	u32(0x02014b50)
	u16(45, 45, 0, 0, 0, 0)
	u32(crc, 0xffffffff, 0xffffffff)
	u16(1, 28, 0, 0, 0)
	u32(0, 0xffffffff)
	b = append(b, "k"...)
	u16(1, 24)
	u64(5, 5, 0)
	size, end := len(b)-dir, len(b)
	u32(0x06064b50)
	u64(44)
	u16(45, 45)
	u32(0, 0)
	u64(1, 1, uint64(size), uint64(dir))
	u32(0x07064b50, 0)
	u64(uint64(end))
	u32(1, 0x06054b50)
	u16(0xffff, 0xffff, 0xffff, 0xffff)
	u32(0xffffffff, 0xffffffff)
	u16(0)
	s, _, err := open(t, b)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := store.ReadAll(t.Context(), s, "k", 100); string(got) != text || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func appendAll[T any](b []byte, v []T) []byte {
	b, _ = binary.Append(b, binary.LittleEndian, v)
	return b
}

// TestDamaged: whatever is changed or missing in a file, values are what they were or
// an error, and nothing is allocated without reason.
func TestDamaged(t *testing.T) {
	values := map[string][]byte{"a": []byte("0123456789"), "f/b": bytes.Repeat([]byte("abc"), 300), "c": {}}
	rng := rand.New(rand.NewPCG(1, 2))
	errs := 0
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		whole := packed(t, values, method, "")
		for range 4000 {
			file := bytes.Clone(whole)
			switch rng.IntN(4) {
			case 0:
				file = file[:rng.IntN(len(file))]
			case 1:
				file = slices.Delete(file, 0, rng.IntN(40))
			default:
				for range 1 + rng.IntN(3) {
					file[rng.IntN(len(file))] ^= byte(1 << rng.IntN(8))
				}
			}
			s, _, err := open(t, file)
			if err != nil {
				errs++
				if !known(err) {
					t.Fatalf("opening: %v", err)
				}
				continue
			}
			for key, value := range values {
				got, err := store.ReadAll(t.Context(), s, key, 1<<20)
				if err == nil && !bytes.Equal(got, value) {
					t.Fatalf("%s: wrong bytes and no error", key)
				}
				if err != nil {
					errs++
					if !known(err) {
						t.Fatalf("%s: %v", key, err)
					}
				}
			}
		}
	}
	if errs < 1000 {
		t.Errorf("only %d errors", errs)
	}
}

func known(err error) bool {
	var limit *store.LimitError
	return errors.Is(err, store.ErrCorrupt) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrNotExist) || errors.As(err, &limit)
}

// TestBombs: what a file says it holds is not believed.
func TestBombs(t *testing.T) {
	bomb := packed(t, map[string][]byte{"k": make([]byte, 50<<20)}, zip.Deflate, "")
	c := storetest.Filled(map[string][]byte{"z.zip": bomb})
	s, err := zipstore.Open(t.Context(), c, "z.zip", zipstore.Options{MaxInflated: 40 << 20})
	if err != nil {
		t.Fatal(err)
	}
	var limit *store.LimitError
	if _, _, err := s.Get(t.Context(), "k", 0, make([]byte, 10)); !errors.As(err, &limit) {
		t.Errorf("a member that is too large: %v", err)
	}
	if _, err := zipstore.Open(t.Context(), c, "z.zip", zipstore.Options{MaxDirectory: 40}); !errors.As(err, &limit) {
		t.Errorf("a directory that is too long: %v", err)
	}
	at := bytes.LastIndex(bomb, []byte("PK\x01\x02")) // of the folder
	at = bytes.LastIndex(bomb[:at], []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(bomb[at+24:], 1<<31) // 2 GiB in 50 KB
	if _, _, err := open(t, bomb); !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "are said to hold") {
		t.Errorf("a member that cannot be as large: %v", err)
	}
}

func FuzzOpen(f *testing.F) {
	values := map[string][]byte{"a": []byte("0123456789"), "f/b": bytes.Repeat([]byte("abc"), 30)}
	f.Add(packed(f, values, zip.Store, ""))
	f.Add(packed(f, values, zip.Deflate, "before"))
	f.Fuzz(func(t *testing.T, file []byte) {
		s, _, err := open(t, file)
		if err != nil {
			if !known(err) {
				t.Fatal(err)
			}
			return
		}
		var all func(folder string, depth int)
		all = func(folder string, depth int) {
			if depth > 5 {
				return
			}
			s.List(t.Context(), folder, func(e store.Entry) error {
				key := strings.TrimPrefix(folder+"/"+e.Name, "/")
				if e.Folder {
					all(key, depth+1)
				} else if got, err := store.ReadAll(t.Context(), s, key, 1<<20); err == nil && int64(len(got)) != e.Size || err != nil && !known(err) {
					t.Fatalf("%q: %d bytes of %d, error %v", key, len(got), e.Size, err)
				}
				return nil
			})
		}
		all("", 0)
	})
}
