// Package httpstore reads arrays from web servers: an example of a store of one's
// own. It is a module of its own and uses nothing but the public packages.
//
//	s := httpstore.New("https://example.org/data")
//	f, err := ndfile.OpenStore(ctx, all.Formats, s, "temperature.zarr", ndfile.OpenOptions{Format: "zarr2"})
package httpstore

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/store"
)

// Store reads values by HTTP: the key is the path below the URL.
type Store struct {
	url    string
	Client *http.Client // with the time limits, proxies and headers of the caller
}

// New gives a store of what lies below a URL.
func New(base string) *Store {
	return &Store{strings.TrimRight(base, "/"), http.DefaultClient}
}

// Get implements store.Reader: one request, for the bytes that are wanted. A server
// that sends all instead is read as far as needed.
func (s *Store) Get(ctx context.Context, key string, off int64, dst []byte) (int, store.Info, error) {
	none := store.Info{}
	if !store.ValidKey(key) {
		return 0, none, &fs.PathError{Op: "get", Path: key, Err: fs.ErrNotExist}
	}
	method, ranges := http.MethodGet, fmt.Sprintf("bytes=%d-%d", off, off+int64(len(dst))-1)
	switch {
	case len(dst) == 0:
		method, ranges = http.MethodHead, ""
	case off < 0:
		ranges = fmt.Sprintf("bytes=%d", off)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.url+"/"+(&url.URL{Path: key}).EscapedPath(), nil)
	if err != nil {
		return 0, none, err
	}
	req.Header.Set("Accept-Encoding", "identity") // or the size would be another one
	if ranges != "" {
		req.Header.Set("Range", ranges)
	}
	resp, err := s.Client.Do(req)
	if err != nil {
		return 0, none, err
	}
	defer resp.Body.Close()
	info := store.Info{Size: resp.ContentLength, Tag: resp.Header.Get("ETag") + resp.Header.Get("Last-Modified")}
	switch resp.StatusCode {
	case http.StatusPartialContent, http.StatusRequestedRangeNotSatisfiable:
		_, size, _ := strings.Cut(resp.Header.Get("Content-Range"), "/") // bytes 0-99/1234, or bytes */1234
		if info.Size, err = strconv.ParseInt(size, 10, 64); err != nil {
			return 0, none, fmt.Errorf("get %s: the server does not tell the size: %w", key, err)
		}
		if resp.StatusCode == http.StatusRequestedRangeNotSatisfiable { // behind the end, or the value is empty
			return 0, info, nil
		}
	case http.StatusOK: // all of it
		if skip := store.Start(off, info.Size); len(dst) > 0 && skip > 0 {
			_, err = io.CopyN(io.Discard, resp.Body, skip)
		}
	case http.StatusNotFound, http.StatusGone, http.StatusForbidden: // S3 answers 403 to who may not list
		err = &fs.PathError{Op: "get", Path: key, Err: fs.ErrNotExist}
	default:
		err = fmt.Errorf("get %s: %s", key, resp.Status)
	}
	if err != nil {
		return 0, none, err
	}
	want := min(int64(len(dst)), info.Size-store.Start(off, info.Size))
	n, err := io.ReadFull(resp.Body, dst[:want])
	return n, info, err
}
