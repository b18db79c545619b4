package httpstore

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
	"github.com/ndfile/ndfile/pkg/store"
	"github.com/ndfile/ndfile/pkg/store/storetest"
)

const archive = "../../../pkg/zarr/testdata/zarr23.zip"

// server serves values and keeps a log.
type server struct {
	values map[string][]byte
	whole  bool // it knows no ranges

	mu  sync.Mutex
	log []string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.log = append(s.log, r.Method+" "+r.URL.Path+" "+r.Header.Get("Range"))
	s.mu.Unlock()
	value, ok := s.values[strings.TrimPrefix(r.URL.Path, "/data/")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if s.whole {
		r.Header.Del("Range")
	}
	w.Header().Set("ETag", fmt.Sprintf(`"%d"`, len(value)))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(value))
}

func (s *server) taken() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	log := s.log
	s.log = nil
	return log
}

func serve(t *testing.T, s *server) *Store {
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	store := New(web.URL + "/data/")
	store.Client = &http.Client{Timeout: 30 * time.Second}
	return store
}

func TestStore(t *testing.T) {
	for _, whole := range []bool{false, true} {
		t.Run(fmt.Sprint("whole=", whole), func(t *testing.T) {
			storetest.Run(t, func(t *testing.T, values map[string][]byte) store.Reader {
				return serve(t, &server{values: values, whole: whole})
			})
		})
	}
}

func TestErrors(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", 500) }))
	defer web.Close()
	_, err := ndfile.OpenStore(t.Context(), all.Formats, New(web.URL), "x.zarr", ndfile.OpenOptions{})
	if !strings.Contains(fmt.Sprint(err), "500 Internal Server Error") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ndfile.OpenStore(ctx, all.Formats, New(web.URL), "x.zarr", ndfile.OpenOptions{}); !errors.Is(err, ndfile.ErrCanceled) {
		t.Errorf("canceled: %v", err)
	}
}

// TestFixtures reads what zarr-python and others wrote as Zarr 2, from a server, and
// counts the requests: opening takes at most two, and a chunk one.
func TestFixtures(t *testing.T) {
	in, err := zip.OpenReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	values := map[string][]byte{}
	for _, f := range in.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		values[f.Name] = text
	}
	var manifest struct {
		Cases []struct{ Name, Store, Array, Expected, Outcome any }
	}
	if err := json.Unmarshal(values["manifest.json"], &manifest); err != nil {
		t.Fatal(err)
	}
	web := &server{values: values}
	s := serve(t, web)
	tried := 0
	for _, c := range manifest.Cases {
		name, expected := fmt.Sprint(c.Store), fmt.Sprint(c.Expected)
		if values[name+"/.zarray"] == nil || c.Outcome != nil || !strings.HasSuffix(expected, ".npy") {
			continue
		}
		web.taken()
		f, err := ndfile.OpenStore(t.Context(), all.Formats, s, name, ndfile.OpenOptions{Format: "zarr2"})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if log := web.taken(); len(log) > 2 {
			t.Errorf("%s: opening takes %d requests: %v", name, len(log), log)
		}
		chunks := 1
		a, err := f.Array("")
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range a.Spec().Shape {
			chunks *= int((n + a.Spec().Chunks[i] - 1) / a.Spec().Chunks[i])
		}
		got := read(t, f)
		if log := web.taken(); len(log) > chunks {
			t.Errorf("%s: %d chunks take %d requests: %v", name, chunks, len(log), log)
		}
		npy, err := ndfile.OpenStore(t.Context(), all.Formats, s, "expected/"+expected, ndfile.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if want := read(t, npy); got.DType.Size == want.DType.Size && !bytes.Equal(got.Data, want.Data) {
			t.Errorf("%s: other elements than expected/%s", name, expected)
		}
		tried++
	}
	if tried < 100 {
		t.Errorf("only %d fixtures were read", tried)
	}
}

// read reads the one array of a file, in the machine's byte order.
func read(t *testing.T, f ndfile.File) ndarray.Buffer {
	t.Helper()
	defer f.Abort()
	a, err := f.Array("")
	if err != nil {
		t.Fatal(err)
	}
	spec := a.Spec()
	dst, err := ndarray.NewBuffer(spec.DType.Native(), spec.Shape)
	if err == nil {
		err = a.ReadBox(t.Context(), ndarray.Full(spec.Shape), dst)
	}
	if err != nil {
		t.Errorf("%v", err)
	}
	return dst
}
