package zipstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/ndfile/ndfile/pkg/store"
)

// The records of a zip file, by their signatures and lengths without names.
const (
	localSig     = 0x04034b50
	localSize    = 30
	memberSig    = 0x02014b50
	memberSize   = 46
	endSig       = 0x06054b50
	endSize      = 22
	end64Sig     = 0x06064b50
	end64Size    = 56
	locatorSig   = 0x07064b50
	locatorSize  = 20
	zip64ID      = 1
	maxComment   = 1<<16 - 1
	tailSize     = locatorSize + endSize + maxComment
	flagEncoding = 1 << 0 // encrypted
)

// member is an entry of the directory.
type member struct {
	name         string // in the memory of the directory
	offset       int64  // of its local header in the file
	size, packed int64  // bytes, and bytes in the file
	crc          uint32
	method       uint16
	encrypted    bool
}

// damaged is an error of a zip file.
func (s *Store) damaged(format string, args ...any) error {
	return &fs.PathError{Op: "read zip", Path: s.key, Err: fmt.Errorf("%w: %s", store.ErrCorrupt, fmt.Sprintf(format, args...))}
}

// readDirectory reads the central directory.
func (s *Store) readDirectory(ctx context.Context, most int64) error {
	tail := make([]byte, tailSize)
	n, info, err := s.from.Get(ctx, s.key, -tailSize, tail)
	if err != nil {
		return err
	}
	s.info = info
	tail = tail[:n]
	tailAt := info.Size - int64(n)
	at := endRecord(tail)
	if at < 0 {
		return s.damaged("expected a directory at the end, found none")
	}
	end := tail[at:]
	disk, count := binary.LittleEndian.Uint16(end[4:]), int64(binary.LittleEndian.Uint16(end[10:]))
	size, offset := int64(binary.LittleEndian.Uint32(end[12:])), int64(binary.LittleEndian.Uint32(end[16:]))
	endAt := tailAt + int64(at)
	if loc := at - locatorSize; loc >= 0 && binary.LittleEndian.Uint32(tail[loc:]) == locatorSig {
		end64At := int64(binary.LittleEndian.Uint64(tail[loc+8:]))
		var end64 [end64Size]byte
		if end64At < 0 || end64At > info.Size-end64Size {
			return s.damaged("expected the end of a Zip64 directory at byte %d", end64At)
		}
		if err := s.readAt(ctx, end64[:], end64At); err != nil {
			return err
		}
		if binary.LittleEndian.Uint32(end64[:]) != end64Sig {
			return s.damaged("expected the end of a Zip64 directory at byte %d", end64At)
		}
		count, size, offset = int64(binary.LittleEndian.Uint64(end64[32:])), int64(binary.LittleEndian.Uint64(end64[40:])), int64(binary.LittleEndian.Uint64(end64[48:]))
		endAt = end64At
	}
	switch {
	case disk != 0 && disk != 0xffff:
		return unsupported(s.key, "a zip file in several volumes")
	case size < 0 || offset < 0 || size > endAt || offset > endAt-size:
		return s.damaged("a directory of %d bytes at byte %d of %d", size, offset, info.Size)
	case size > most:
		return &store.LimitError{Key: s.key, Size: size, Most: most}
	case count < 0 || count > size/memberSize:
		return s.damaged("%d members in a directory of %d bytes", count, size)
	}
	s.base = endAt - size - offset // what stands before the zip file
	dir := make([]byte, size)
	if from := endAt - size - tailAt; from >= 0 {
		copy(dir, tail[from:])
	} else if err := s.readAt(ctx, dir, endAt-size); err != nil {
		return err
	}
	return s.parse(dir, count)
}

// endRecord finds the last end of a directory in the last bytes of a file.
func endRecord(tail []byte) int {
	for at := len(tail) - endSize; at >= 0; at-- {
		if tail[at] == 'P' && binary.LittleEndian.Uint32(tail[at:]) == endSig {
			if comment := int(binary.LittleEndian.Uint16(tail[at+20:])); at+endSize+comment <= len(tail) {
				return at
			}
		}
	}
	return -1
}

// parse reads the entries of the directory.
func (s *Store) parse(dir []byte, count int64) error {
	s.members = make([]member, 0, count)
	for at := 0; count > 0; count-- {
		d := dir[at:]
		if len(d) < memberSize || binary.LittleEndian.Uint32(d) != memberSig {
			return s.damaged("expected a member at byte %d of the directory", at)
		}
		nameLen, extraLen, commentLen := int(binary.LittleEndian.Uint16(d[28:])), int(binary.LittleEndian.Uint16(d[30:])), int(binary.LittleEndian.Uint16(d[32:]))
		whole := memberSize + nameLen + extraLen + commentLen
		if len(d) < whole {
			return s.damaged("the directory ends in the member at its byte %d", at)
		}
		m := member{
			name: string(d[memberSize : memberSize+nameLen]), encrypted: binary.LittleEndian.Uint16(d[8:])&flagEncoding != 0,
			method: binary.LittleEndian.Uint16(d[10:]), crc: binary.LittleEndian.Uint32(d[16:]),
			packed: int64(binary.LittleEndian.Uint32(d[20:])), size: int64(binary.LittleEndian.Uint32(d[24:])), offset: int64(binary.LittleEndian.Uint32(d[42:])),
		}
		m.zip64(d[memberSize+nameLen : memberSize+nameLen+extraLen])
		at += whole
		if m.size < 0 || m.packed < 0 || m.offset < 0 || m.offset > s.info.Size-s.base-localSize || m.packed > s.info.Size-s.base-localSize-m.offset {
			return s.damaged("%q: %d bytes at byte %d of %d", m.name, m.packed, m.offset, s.info.Size)
		}
		if m.method == stored && m.packed != m.size && !m.encrypted || m.method == deflated && m.size > maxRatio*m.packed+maxRatio {
			return s.damaged("%q: %d bytes are said to hold %d", m.name, m.packed, m.size)
		}
		if store.ValidKey(m.name) {
			s.members = append(s.members, m)
		}
	}
	slices.SortStableFunc(s.members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	last := s.members[:0]
	for i, m := range s.members {
		if i+1 == len(s.members) || s.members[i+1].name != m.name {
			last = append(last, m)
		}
	}
	s.members = last
	return nil
}

// zip64 takes the numbers that are too large for the entry from what follows it, in
// the order in which they stand there.
func (m *member) zip64(extra []byte) {
	for len(extra) >= 4 {
		id, n := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		if extra = extra[4:]; n > len(extra) {
			return
		}
		if field := bytes.NewReader(extra[:n]); id == zip64ID {
			for _, number := range []*int64{&m.size, &m.packed, &m.offset} {
				if *number == 0xffffffff {
					binary.Read(field, binary.LittleEndian, number)
				}
			}
		}
		extra = extra[n:]
	}
}
