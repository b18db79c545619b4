package zipstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/klauspost/compress/flate"

	"github.com/ndfile/ndfile/pkg/store"
)

// The methods of members.
const (
	stored   = 0
	deflated = 8
)

// maxRatio is more than deflate can make of a byte: 1032.
const maxRatio = 1040

// Options bound what a file can make a Store allocate. Zero fields mean the defaults.
type Options struct {
	// MaxDirectory is the longest directory in bytes; 64 MiB.
	MaxDirectory int64
	// MaxInflated is the most bytes that a deflated member may have; 1 GiB.
	MaxInflated int64
}

// Store is a zip file. It implements [store.Holder] and [store.Lister], for any
// number of goroutines. It holds nothing open and need not be closed.
type Store struct {
	from    store.Reader
	key     string
	info    store.Info
	base    int64
	members []member // by name
	most    int64    // bytes of a deflated one
}

// Open reads the directory of the zip file under a key of a store. What is damaged is
// store.ErrCorrupt, a directory that is too long a [*store.LimitError].
func Open(ctx context.Context, from store.Reader, key string, opt Options) (*Store, error) {
	s := &Store{from: from, key: strings.Clone(key), most: opt.MaxInflated}
	if s.most == 0 {
		s.most = 1 << 30
	}
	if opt.MaxDirectory == 0 {
		opt.MaxDirectory = 64 << 20
	}
	if err := s.readDirectory(ctx, opt.MaxDirectory); err != nil {
		return nil, err
	}
	return s, nil
}

func unsupported(name, what string) error {
	return &fs.PathError{Op: "read zip", Path: strings.Clone(name), Err: fmt.Errorf("%w: %s", errors.ErrUnsupported, what)}
}

// readAt fills p from the zip file.
func (s *Store) readAt(ctx context.Context, p []byte, off int64) error {
	n, info, err := s.from.Get(ctx, s.key, off, p)
	if err != nil {
		return err
	}
	if info != s.info {
		return &fs.PathError{Op: "read zip", Path: s.key, Err: store.ErrChanged}
	}
	if n < len(p) {
		return s.damaged("it ends at byte %d", off+int64(n))
	}
	return nil
}

// find gives the member under a key.
func (s *Store) find(ctx context.Context, key string) (*member, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	i := sort.Search(len(s.members), func(i int) bool { return s.members[i].name >= key })
	if i == len(s.members) || s.members[i].name != key {
		return nil, &fs.PathError{Op: "get", Path: strings.Clone(key), Err: fs.ErrNotExist}
	}
	m := &s.members[i]
	switch {
	case m.encrypted:
		return nil, unsupported(key, "an encrypted member")
	case m.method != stored && m.method != deflated:
		return nil, unsupported(key, fmt.Sprintf("method %d, neither stored nor deflated", m.method))
	case m.method == deflated && m.size > s.most:
		return nil, &store.LimitError{Key: strings.Clone(key), Size: m.size, Most: s.most}
	}
	return m, nil
}

// Get implements [store.Reader].
func (s *Store) Get(ctx context.Context, key string, off int64, dst []byte) (int, store.Info, error) {
	m, err := s.find(ctx, key)
	if err != nil {
		return 0, store.Info{}, err
	}
	info := store.Info{Size: m.size}
	off = store.Start(off, m.size)
	dst = dst[:min(int64(len(dst)), m.size-off)]
	switch {
	case len(dst) == 0:
	case off == 0 && int64(len(dst)) == m.size:
		err = s.all(ctx, m, dst)
	case m.method == stored:
		err = s.part(ctx, m, off, dst)
	default:
		plain := make([]byte, m.size)
		if err = s.all(ctx, m, plain); err == nil {
			copy(dst, plain[off:])
		}
	}
	if err != nil {
		return 0, store.Info{}, err
	}
	return len(dst), info, nil
}

// slack is how much longer the local header may be than the directory tells, for it
// to be read with the member.
const slack = 64

// part reads a range of a stored member.
func (s *Store) part(ctx context.Context, m *member, off int64, dst []byte) error {
	begin, err := s.begin(ctx, m)
	if err != nil {
		return err
	}
	return s.readAt(ctx, dst, begin+off)
}

// begin is where the bytes of a member begin in the file.
func (s *Store) begin(ctx context.Context, m *member) (int64, error) {
	head := make([]byte, localSize+len(m.name))
	if err := s.readAt(ctx, head, s.base+m.offset); err != nil {
		return 0, err
	}
	n, err := s.checkLocal(m, head)
	return s.base + m.offset + n, err
}

// checkLocal checks that a local header is that of the member, and gives its length.
func (s *Store) checkLocal(m *member, head []byte) (int64, error) {
	if binary.LittleEndian.Uint32(head) != localSig {
		return 0, s.damaged("%q: expected a member at byte %d", m.name, s.base+m.offset)
	}
	nameLen, extraLen := int(binary.LittleEndian.Uint16(head[26:])), int64(binary.LittleEndian.Uint16(head[28:]))
	if nameLen != len(m.name) || string(head[localSize:localSize+nameLen]) != m.name {
		return 0, s.damaged("%q: another member is at byte %d", m.name, s.base+m.offset)
	}
	n := localSize + int64(nameLen) + extraLen
	if m.packed > s.info.Size-s.base-m.offset-n {
		return 0, s.damaged("%q: the file ends in it", m.name)
	}
	return n, nil
}

// all reads the whole of a member, which has len(dst) bytes, by one request, and
// checks it.
func (s *Store) all(ctx context.Context, m *member, dst []byte) error {
	raw, err := s.raw(ctx, m)
	if err != nil {
		return err
	}
	return s.decode(m, dst, raw)
}

// raw reads the bytes of a member as they are in the file, by one request.
func (s *Store) raw(ctx context.Context, m *member) ([]byte, error) {
	at := s.base + m.offset
	raw := make([]byte, min(localSize+int64(len(m.name))+slack+m.packed, s.info.Size-at))
	if err := s.readAt(ctx, raw, at); err != nil {
		return nil, err
	}
	n, err := s.checkLocal(m, raw)
	if err != nil {
		return nil, err
	}
	if missing := n + m.packed - int64(len(raw)); missing > 0 {
		raw = append(raw, make([]byte, missing)...)
		if err := s.readAt(ctx, raw[int64(len(raw))-missing:], at+int64(len(raw))-missing); err != nil {
			return nil, err
		}
	}
	return raw[n : n+m.packed], nil
}

// decode gives all bytes of a member, and checks them.
func (s *Store) decode(m *member, dst, raw []byte) error {
	if m.method == stored {
		copy(dst, raw)
	} else if err := inflate(dst, raw, true); err != nil {
		return s.damaged("%q: %v", m.name, err)
	}
	if crc := crc32.ChecksumIEEE(dst); crc != m.crc {
		return s.damaged("%q: expected the CRC %08x, found %08x", m.name, m.crc, crc)
	}
	return nil
}

var inflaters = sync.Pool{New: func() any { return flate.NewReader(nil) }}

// inflate fills dst from a deflated stream. With all it must not hold more.
func inflate(dst, raw []byte, all bool) error {
	r := inflaters.Get().(io.ReadCloser)
	defer inflaters.Put(r)
	if err := r.(flate.Resetter).Reset(bytes.NewReader(raw), nil); err != nil {
		return err
	}
	if _, err := io.ReadFull(r, dst); err != nil {
		return fmt.Errorf("the deflated bytes end early: %w", err)
	}
	if !all {
		return nil
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		return errors.New("more deflated bytes than the directory tells")
	}
	return nil
}

// Hold implements [store.Holder]: a deflated member stays in memory while it is held.
func (s *Store) Hold(ctx context.Context, key string, head []byte) (int, store.Value, error) {
	m, err := s.find(ctx, key)
	if err != nil {
		return 0, nil, err
	}
	if m.size < int64(len(head)) {
		n, _, err := s.Get(ctx, key, 0, head)
		return n, nil, err
	}
	v := &value{s: s, m: m}
	if len(head) == 0 {
		return 0, v, nil
	}
	if m.method == stored {
		_, err = v.ReadContext(ctx, head, 0)
	} else if v.raw, err = s.raw(ctx, m); err == nil {
		// Who wants the beginning may not want the rest, however large it says it is.
		if err = inflate(head, v.raw, false); err != nil {
			err = s.damaged("%q: %v", m.name, err)
		}
	}
	if err != nil {
		return 0, nil, err
	}
	return len(head), v, nil
}

// List implements [store.Lister].
func (s *Store) List(ctx context.Context, folder string, fn func(store.Entry) error) error {
	if folder != "" {
		folder += "/"
	}
	i := sort.Search(len(s.members), func(i int) bool { return s.members[i].name >= folder })
	for i < len(s.members) {
		name, ok := strings.CutPrefix(s.members[i].name, folder)
		if !ok {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		e := store.Entry{Name: name, Size: s.members[i].size}
		next := i + 1
		if name, _, ok = strings.Cut(name, "/"); ok {
			e = store.Entry{Name: name, Folder: true, Size: -1}
			after := folder + name + "0" // "0" follows "/"
			next, _ = slices.BinarySearchFunc(s.members, after, func(m member, after string) int { return strings.Compare(m.name, after) })
		}
		if err := fn(e); err != nil {
			return err
		}
		i = next
	}
	return nil
}
