package ndfile

import (
	"context"
	"slices"
)

// Part is one part of a store that is split.
type Part struct {
	// Path is the new store.
	Path string
	// Rows is the number of rows that go there, along axis 0.
	Rows int64
}

// SplitOptions are the options of [Split] and [Concat].
type SplitOptions struct {
	// FS is the file system; nil is OS. Formats get it as an argument, not here.
	FS FS
	// Format names the format; "" goes by the content.
	Format string
	// WriteOptions say how the new stores become visible.
	WriteOptions
	// FollowSymlinks is as in OpenOptions.
	FollowSymlinks bool
	Limits         Limits
}

// Split cuts a store along axis 0 into new ones, without touching compressed data,
// as [Splitter] says. A format that cannot is ErrNotSupported, no parts are
// ErrArgument.
func Split(ctx context.Context, formats []Format, src string, parts []Part, opt SplitOptions) error {
	if len(parts) == 0 {
		return NewError(ErrArgument, "no parts to split into").On(src)
	}
	s, err := splitter(ctx, formats, []string{src}, &opt)
	if err != nil {
		return err
	}
	fsys := opt.FS
	opt.FS = nil
	return Locate(s.Split(ctx, fsys, src, parts, opt), src, "", false)
}

// Concat makes one store of several of the same format, without touching
// compressed data, as [Splitter] says. A format that cannot is ErrNotSupported; no
// stores, stores of different formats and a dst that is one of them are ErrArgument.
func Concat(ctx context.Context, formats []Format, srcs []string, dst string, opt SplitOptions) error {
	if len(srcs) == 0 {
		return NewError(ErrArgument, "no stores to join").On(dst)
	}
	if slices.Contains(srcs, dst) {
		return NewError(ErrArgument, "the new store is one of those to be joined").On(dst)
	}
	s, err := splitter(ctx, formats, srcs, &opt)
	if err != nil {
		return err
	}
	fsys := opt.FS
	opt.FS = nil
	return Locate(s.Concat(ctx, fsys, srcs, dst, opt), dst, "", false)
}

// splitter finds the one format of stores, and sets FS in the options.
func splitter(ctx context.Context, formats []Format, srcs []string, opt *SplitOptions) (Splitter, error) {
	if opt.FS == nil {
		opt.FS = OS
	}
	var format Format
	for _, src := range srcs {
		f, err := formatToRead(ctx, formats, opt.FS, src, opt.Format)
		if err != nil {
			return nil, err
		}
		if format != nil && f.Name() != format.Name() {
			return nil, NewError(ErrArgument, "the format is "+f.Name()+", that of "+srcs[0]+" is "+format.Name()).On(src)
		}
		format = f
	}
	s, ok := format.(Splitter)
	if !ok {
		return nil, NewError(ErrNotSupported, "the format "+format.Name()+" cannot be split or joined").On(srcs[0])
	}
	return s, nil
}
