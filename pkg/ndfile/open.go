package ndfile

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
)

// Open opens an existing file or folder. Unless opt.Format names one, the
// format is found by content; what the extension says is only tried first. Errors:
// ErrNotFound, ErrFormat (with the formats that were tried), ErrArgument where
// opt.Shared or RequireLock is set without Update, and whatever the format finds.
func Open(ctx context.Context, formats []Format, path string, opt OpenOptions) (File, error) {
	f, _, err := OpenAs(ctx, formats, path, opt)
	return f, err
}

// OpenAs is Open, and tells the format.
func OpenAs(ctx context.Context, formats []Format, path string, opt OpenOptions) (File, Format, error) {
	if opt.FS == nil {
		opt.FS = OS
	}
	fsys, err := mounted(ctx, opt.FS, path, opt.Limits)
	if err != nil {
		return nil, nil, err
	}
	if opt.Mode == Update {
		if err := writable(fsys, path); err != nil {
			return nil, nil, err
		}
	}
	if opt.Mode != Update && (opt.Shared || opt.RequireLock) {
		return nil, nil, NewError(ErrArgument, "a lock, which only a file that is opened for changes has").On(path)
	}
	fsys, opened := vfs.Remembering(fsys)
	defer opened()
	opt.FS = nil // formats have it as an argument
	// Opening a file is the best test of what its name says, and the cheapest.
	var refused error
	expected := formatByExtension(formats, path)
	if opt.Format == "" && expected != nil {
		f, err := expected.Open(ctx, fsys, path, opt)
		if err == nil {
			return f, expected, nil
		}
		refused = err
	}
	format, err := formatToRead(ctx, formats, fsys, path, opt.Format)
	switch {
	case err != nil:
		return nil, nil, err
	case refused != nil && format.Name() == expected.Name():
		return nil, format, Locate(refused, path, "", false)
	}
	f, err := format.Open(ctx, fsys, path, opt)
	return f, format, Locate(err, path, "", false)
}

// formatByExtension is the only format that has the extension of path, else nil.
func formatByExtension(formats []Format, path string) (found Format) {
	for _, f := range formats {
		if hasExtension(f, path) {
			if found != nil {
				return nil
			}
			found = f
		}
	}
	return found
}

// Create starts a new file. The format is opt.Format or goes by the extension
// of path; an extension that several formats share or none knows is ErrFormat.
// The file appears at path when it is closed.
func Create(ctx context.Context, formats []Format, path string, opt CreateOptions) (File, error) {
	f, _, err := CreateAs(ctx, formats, path, opt)
	return f, err
}

// CreateAs is Create, and tells the format.
func CreateAs(ctx context.Context, formats []Format, path string, opt CreateOptions) (File, Format, error) {
	if opt.FS == nil {
		opt.FS = OS
	}
	format, err := formatToCreate(formats, path, &opt)
	if err != nil {
		return nil, nil, err
	}
	fsys := opt.FS
	opt.FS = nil
	if err := writable(fsys, path); err != nil {
		return nil, format, err
	}
	f, err := format.Create(ctx, fsys, path, opt)
	return f, format, Locate(err, path, "", false)
}

// Detect finds the format of a file or folder by its content. Those that the
// extension names are asked first; the first that is certain wins, else the first
// that finds it possible. No format is ErrFormat.
func Detect(ctx context.Context, formats []Format, fsys FS, path string) (Format, error) {
	fsys, err := mounted(ctx, fsys, path, Limits{})
	if err != nil {
		return nil, err
	}
	return detect(ctx, formats, fsys, path)
}

// detect is Detect where path is no zip file.
func detect(ctx context.Context, formats []Format, fsys FS, path string) (Format, error) {
	var possible Format
	looked := &probe{FS: fsys, path: path}
	for _, byExtension := range [...]bool{true, false} {
		for _, f := range formats {
			if hasExtension(f, path) != byExtension {
				continue
			}
			m, err := f.Detect(ctx, looked, path)
			switch {
			case err != nil:
				return nil, Locate(err, path, "", false)
			case m == Certain:
				return f, nil
			case m == Possible && possible == nil:
				possible = f
			}
		}
	}
	if possible == nil {
		if _, err := fsys.Stat(path); err != nil && vfs.IsStore(fsys) {
			return nil, Locate(err, path, "", false)
		}
		return nil, NewError(ErrFormat, "none of the known formats ("+formatNames(formats)+") recognises it").On(path)
	}
	return possible, nil
}

// FormatByName gives the format of that name. An unknown name is ErrFormat.
func FormatByName(formats []Format, name string) (Format, error) {
	for _, f := range formats {
		if f.Name() == name {
			return f, nil
		}
	}
	return nil, NewError(ErrFormat, "unknown format "+strconv.Quote(name)+"; known are "+formatNames(formats))
}

// formatToRead is FormatByName where a name is given, else Detect. Of a file that no format
// recognises, the one that the extension names says best what is wrong.
func formatToRead(ctx context.Context, formats []Format, fsys FS, path, name string) (Format, error) {
	if name != "" {
		f, err := FormatByName(formats, name)
		return f, Locate(err, path, "", false)
	}
	f, err := detect(ctx, formats, fsys, path)
	if errors.Is(err, ErrFormat) {
		if i := slices.IndexFunc(formats, func(f Format) bool { return hasExtension(f, path) }); i >= 0 {
			return formats[i], nil
		}
	}
	return f, err
}

// formatToCreate finds the format of a file to be created, and refuses what it has no
// place for.
func formatToCreate(formats []Format, path string, opt *CreateOptions) (Format, error) {
	f, err := formatToWrite(formats, path, opt.Format)
	if err == nil && opt.Trailing != nil && f.Caps()&CapTrailing == 0 {
		err = NewError(ErrNotSupported, "the format "+f.Name()+" has no bytes after the data").On(path)
	}
	return f, err
}

// formatToWrite is FormatByName where a name is given, else the format that the extension
// names.
func formatToWrite(formats []Format, path, name string) (Format, error) {
	if isZip(path) {
		return nil, NewError(ErrNotSupported, "zip files are read, not written: write a folder and pack it").On(path)
	}
	if name != "" {
		f, err := FormatByName(formats, name)
		return f, Locate(err, path, "", false)
	}
	var found []Format
	for _, f := range formats {
		if hasExtension(f, path) {
			found = append(found, f)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, NewError(ErrFormat, "the extension "+strconv.Quote(filepath.Ext(path))+" names no format; give one of "+formatNames(formats)).On(path)
	}
	return nil, NewError(ErrFormat, "the extension "+strconv.Quote(filepath.Ext(path))+" names several formats; give one of "+formatNames(found)).On(path)
}

// hasExtension reports whether path ends in one of f's extensions, whatever
// the case. It does not allocate.
func hasExtension(f Format, path string) bool {
	for _, ext := range f.Extensions() {
		if len(path) > len(ext) && strings.EqualFold(path[len(path)-len(ext):], ext) {
			return true
		}
	}
	return false
}

func formatNames(formats []Format) string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name()
	}
	return strings.Join(names, ", ")
}
