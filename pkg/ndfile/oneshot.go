package ndfile

import (
	"context"
	"errors"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// Item is one array to be saved.
type Item struct {
	// Name is the array's name; "" in single-array formats.
	Name string
	// Data are the elements in the caller's memory, in any strides and byte
	// order. For the dtypes "bytes" and "str" only DType, Shape and Data count:
	// Data.Data holds the bytes of all elements and Offsets delimits them.
	Data ndarray.Buffer
	// Offsets has count+1 entries for the dtypes of variable length, else nil.
	Offsets []int64
	// Mask has one byte an element in row-major order, 1 = missing; nil when
	// nothing is missing.
	Mask []byte
	// Dims, Attrs and Extra are as in Spec.
	Dims  []string
	Attrs *Attrs
	Extra *Attrs
}

// Load reads the arrays of a small file in one pass: all, or the one that the
// sink names. The format goes by the extension first and, when the content
// says otherwise, by content. With ErrBuffer, Need, N and the infos are filled
// so that the caller can come again.
func Load(ctx context.Context, formats []Format, fsys FS, path string, sink *Sink) error {
	small := fsys
	if _, ok := fsys.(*Near); ok {
		fsys = OS
	}
	var tried Format
	var refused error // what the format that the extension names says
	for _, f := range formats {
		if o, ok := f.(OneShot); ok && hasExtension(f, path) {
			err := o.Load(ctx, small, path, sink)
			if err == nil {
				return nil
			}
			if !errors.Is(err, ErrFormat) {
				return Locate(err, path, "", false)
			}
			tried, refused = f, err
			break
		}
	}
	sink.reset()
	fsys, err := mounted(ctx, fsys, path, sink.Limits)
	if err != nil {
		return err
	}
	f, err := detect(ctx, formats, fsys, path)
	if errors.Is(err, ErrFormat) && refused != nil {
		err = Locate(refused, path, "", false)
	}
	if err != nil {
		return err
	}
	if o, ok := f.(OneShot); ok && f != tried {
		return Locate(o.Load(ctx, fsys, path, sink), path, "", false)
	}
	file, err := f.Open(ctx, fsys, path, OpenOptions{Limits: sink.Limits})
	if err != nil {
		return Locate(err, path, "", false)
	}
	defer file.Abort()
	return Locate(LoadFile(ctx, file, sink), path, "", false)
}

// Save writes arrays as a new file in one pass. The format is opt.Format or
// goes by the extension.
func Save(ctx context.Context, formats []Format, path string, items []Item, opt SaveOptions) error {
	if opt.FS == nil {
		opt.FS = OS
	}
	f, err := formatToCreate(formats, path, &opt)
	if err != nil {
		return err
	}
	fsys := opt.FS
	opt.FS = nil
	if err := writable(fsys, path); err != nil {
		return err
	}
	if o, ok := f.(OneShot); ok {
		return Locate(o.Save(ctx, fsys, path, items, opt), path, "", false)
	}
	if _, ok := fsys.(*Near); ok {
		fsys = OS
	}
	return Locate(SaveByFile(ctx, f, fsys, path, items, opt), path, "", false)
}

// SaveByFile is Save by way of a File: for formats without a OneShot, and for
// OneShots what is not small and simple. After an error nothing is left.
func SaveByFile(ctx context.Context, f Format, fsys FS, path string, items []Item, opt SaveOptions) error {
	file, err := f.Create(ctx, fsys, path, opt)
	if err != nil {
		return err
	}
	if err := SaveFile(ctx, file, items); err != nil {
		file.Abort()
		return err
	}
	return file.Close(ctx)
}

// SaveFile adds and writes arrays to a file that is being created.
func SaveFile(ctx context.Context, file File, items []Item) error {
	for i := range items {
		if err := saveItem(ctx, file, &items[i]); err != nil {
			return Locate(err, "", items[i].Name, file.Kind() != Single)
		}
	}
	return nil
}

func saveItem(ctx context.Context, file File, it *Item) error {
	a, err := file.Add(ctx, it.Name, Spec{DType: it.Data.DType, Shape: it.Data.Shape, Masked: it.Mask != nil,
		Dims: it.Dims, Attrs: it.Attrs, Extra: it.Extra})
	if err != nil {
		return err
	}
	box := ndarray.Full(it.Data.Shape)
	if it.Data.DType.IsVar() {
		s, ok := a.(Strings)
		if !ok {
			return NewError(ErrDType, "the format has no elements of variable length")
		}
		return s.WriteStrings(ctx, box, it.Offsets, it.Data.Data, it.Mask)
	}
	return WriteBox(ctx, a, box, it.Data, it.Mask)
}
