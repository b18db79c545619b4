package store

import (
	"context"
	"errors"
	"io"
	"strings"
)

// Reader reads values. All methods of all interfaces of this package may be called
// from any goroutine. A store keeps neither key nor memory of the caller after a
// call.
type Reader interface {
	// Get reads bytes of a value into dst, from byte off on. A negative off counts
	// from the end: -8 begins 8 bytes before it, or at the beginning of a value that
	// is shorter. n is less than len(dst) only where the value ends; a value that
	// ends at off or before gives 0 bytes and no error. An empty dst asks for info
	// alone.
	Get(ctx context.Context, key string, off int64, dst []byte) (n int, info Info, err error)
}

// Info describes a value.
type Info struct {
	// Size is the number of bytes of the whole value.
	Size int64
	// Tag changes when the value does: an ETag, say. "" is a store that does not
	// tell.
	Tag string
}

// Part is a range of a value with the memory for it: len(Dst) bytes from byte Off
// on, which is not negative.
type Part struct {
	Off int64
	Dst []byte
}

// RangeReader is a Reader that has a better way to several ranges of one value than
// several calls of Get: [ReadParts] calls it with everything, in any order, ranges
// that touch or overlap included.
type RangeReader interface {
	Reader
	// GetRanges fills all parts from one state of the value. A part that is not
	// within it is an error that is io.ErrUnexpectedEOF.
	GetRanges(ctx context.Context, key string, parts []Part) (Info, error)
}

// Holder is a Reader whose values stay as they are while they are held, whatever
// is put in their place meanwhile, or can be read for less then.
type Holder interface {
	Reader
	// Hold opens a value and reads its beginning into head. Where the value ends
	// within head (n < len(head)) it is not kept open and rest is nil.
	Hold(ctx context.Context, key string, head []byte) (n int, rest Value, err error)
}

// Value is a value that is held open. [ReadFull] and [ReadParts] read it, with a
// context where it is a [ContextValue].
type Value interface {
	// ReadAt follows io.ReaderAt.
	io.ReaderAt
	// Size is the number of bytes.
	Size() (int64, error)
	// Close lets go of the value.
	Close() error
}

// ContextValue is a Value of which each read is a request.
type ContextValue interface {
	Value
	// ReadContext is ReadAt with a context. A negative off counts from the end.
	ReadContext(ctx context.Context, p []byte, off int64) (int, error)
	// ReadParts fills all parts, in as few requests as is best.
	ReadParts(ctx context.Context, parts []Part) error
}

// Lister is a store that can tell what there is.
type Lister interface {
	// List calls fn for everything directly in a folder, in any order; "" is the
	// whole store. An error of fn ends it and is returned. A folder in which there
	// is nothing is fs.ErrNotExist or an empty list, as the store has it.
	List(ctx context.Context, folder string, fn func(Entry) error) error
}

// Entry is what a folder holds.
type Entry struct {
	// Name is the last part of the key, without a slash.
	Name string
	// Folder: it is a folder. A store may have a value and a folder of one name;
	// then there are two entries.
	Folder bool
	// Size is that of a value, or -1 where the list does not tell.
	Size int64
}

// Writer is a store that can be changed, value by value.
type Writer interface {
	// Put makes parts, one after the other, the value of key. Others see the old
	// value or the new one, whole. Where the condition is not met nothing changes
	// and the error is ErrCondition. tag is that of the new value, "" where the store
	// has none.
	Put(ctx context.Context, key string, parts [][]byte, when Condition) (tag string, err error)
	// Delete removes a value; that there is none is no error.
	Delete(ctx context.Context, key string) error
}

// Condition says when a value may be put. The zero value is always.
type Condition struct {
	// Absent: only where there is no value yet.
	Absent bool
	// Tag: only over the value with this tag; "" is any. A store that cannot keep
	// such a promise refuses it with errors.ErrUnsupported.
	Tag string
}

// ErrCondition says that a value was not put because its Condition is not met.
var ErrCondition = errors.New("the value is not in the state that was asked for")

// ErrChanged says that a value was replaced between two reads that belong together.
// To read it again from the start helps.
var ErrChanged = errors.New("the value was replaced while it was read")

// ErrCorrupt says that a store is damaged: what it holds is not what was put there.
var ErrCorrupt = errors.New("damaged")

// ValidKey tells whether a text is a key. "" is none: it names the store.
func ValidKey(key string) bool {
	for rest, more := key, true; more; {
		var name string
		name, rest, more = strings.Cut(rest, "/")
		if name == "" || name == "." || name == ".." || strings.IndexByte(name, 0) >= 0 {
			return false
		}
	}
	return true
}
