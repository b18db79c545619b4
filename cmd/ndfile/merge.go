package main

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

func newMerge() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "merge FILE... --out NEW",
		Short: "merge files into one",
		Long: "merge writes the arrays of all files into one. Names must differ; the array of a\n" +
			"single-array file gets the name of the file, without the extension.\n\n" +
			"With --dim the arrays of the same name are joined along that axis, by name or, without\n" +
			"names of axes, by number; arrays that do not have it come from the first file that has\n" +
			"them. If no array has an axis of that name, all get it as a new first axis.\n\n" +
			"Of attributes that several files have, those of the first count. The new file appears\n" +
			"when it is whole, or not at all, and is compared with its sources.",
		Example:     "  ndfile merge a.ds b.ds --out ab.ds\n  ndfile merge --dim time 'day-*.ds' --out month.ds",
		Annotations: schema([]convertJSON{}),
		Args:        cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var paths []string
			for _, arg := range args {
				list, err := targets(arg)
				if err != nil {
					return err
				}
				for _, t := range list {
					if t.named || t.index != nil {
						return usage("whole files are merged").On(arg)
					}
					paths = append(paths, t.path)
				}
			}
			dim, out := word(cmd, "dim"), word(cmd, "out")
			for _, path := range paths {
				if sameFile(path, out) {
					return usage("the new file cannot be one of those that are merged").On(out)
				}
			}
			return writeEdited(cmd, paths[0], change{edit: func(ctx context.Context, c *contents) error {
				return merge(ctx, c, paths, dim)
			}})
		},
	}
	addConvertFlags(cmd)
	cmd.Flags().StringP("out", "o", "", "the new file")
	cmd.Flags().StringP("dim", "d", "", "the axis along which to join arrays")
	return cmd
}

// merge adds the other files to c, which is the first.
func merge(ctx context.Context, c *contents, paths []string, dim string) error {
	parts := []*contents{c}
	formats := make([]string, len(paths))
	for i, path := range paths {
		f, format, err := ndfile.OpenAs(ctx, all.Formats, path, ndfile.OpenOptions{})
		if err != nil {
			return err
		}
		formats[i] = format.Name()
		if i == 0 {
			f.Abort() // c is this file
			continue
		}
		p, err := contentsOf(f)
		if err != nil {
			f.Abort()
			return ndfile.Locate(err, path, "", false)
		}
		book := c.others.add(path, formats[i], f)
		for name, a := range p.arrays {
			p.arrays[name] = book.lend(name, a)
		}
		if formats[i] != formats[0] {
			p.dropExtra()
		}
		parts = append(parts, p)
	}
	var err error
	if dim == "" {
		err = c.unite(parts, paths)
	} else {
		err = c.join(parts, paths, dim)
	}
	if err != nil {
		return err
	}
	attrs := ndfile.NewAttrs()
	for _, p := range parts {
		for i := range p.attrs.Len() {
			key, v := p.attrs.At(i)
			if _, ok := attrs.Get(key); !ok {
				attrs.Set(key, v)
			}
		}
	}
	c.attrs = attrs
	return nil
}

// dropExtra forgets metadata in the terms of another format.
func (c *contents) dropExtra() {
	for name, a := range c.arrays {
		if a.Spec().Extra != nil {
			v := whole(a)
			v.spec.Extra = nil
			c.arrays[name] = v
		}
	}
}

// unite puts all arrays side by side.
func (c *contents) unite(parts []*contents, paths []string) error {
	var names []string
	arrays := map[string]ndfile.Array{}
	for i, p := range parts {
		for _, name := range p.names {
			a := p.arrays[name]
			if p.kind == ndfile.Single {
				base := filepath.Base(paths[i])
				name = strings.TrimSuffix(base, filepath.Ext(base))
			}
			if _, twice := arrays[name]; twice {
				return ndfile.NewError(ndfile.ErrNameExists, "another of the files has an array of that name; join them along an axis: --dim").On(paths[i]).In(name)
			}
			names = append(names, name)
			arrays[name] = a
		}
		if p.kind != c.kind || p.kind == ndfile.Single {
			c.kind = ndfile.Dataset
		}
	}
	c.names, c.arrays = names, arrays
	return nil
}

// join puts arrays of the same name one after the other along an axis.
func (c *contents) join(parts []*contents, paths []string, dim string) error {
	known := false // in some array
	var names []string
	for i, p := range parts {
		if p.kind != c.kind {
			return usage("expected a file of the kind " + c.kind.String() + " like the first, found one of the kind " + p.kind.String()).On(paths[i])
		}
		for _, name := range p.names {
			s := p.arrays[name].Spec()
			known = known || axisOf(&s, dim) >= 0
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if _, err := strconv.Atoi(dim); err == nil && !known {
		return usage("no array has an axis " + dim)
	}
	arrays := map[string]ndfile.Array{}
	for _, name := range names {
		var list []ndfile.Array
		axis := -1
		for i, p := range parts {
			a, ok := p.arrays[name]
			if !ok {
				continue
			}
			s := a.Spec()
			if axis = axisOf(&s, dim); !known && !s.NoData {
				a, axis = stacked(a, dim), 0
			}
			if len(list) > 0 {
				if err := sameRows(list[0].Spec(), a.Spec(), axis); err != nil {
					return ndfile.Locate(err, paths[i], name, name != "")
				}
			}
			if list = append(list, a); axis < 0 {
				break
			}
		}
		switch {
		case axis >= 0 && len(list) < len(parts):
			return ndfile.NewError(ndfile.ErrName, "not all files have this array, which has the axis to join along").In(name)
		case axis >= 0:
			arrays[name] = newJoint(list, axis)
		default:
			arrays[name] = list[0]
		}
	}
	c.names, c.arrays = names, arrays
	return nil
}

// sameRows checks that arrays can be joined along an axis.
func sameRows(a, b ndfile.Spec, axis int) *ndfile.Error {
	if !a.DType.Native().Equal(b.DType.Native()) {
		return ndfile.NewError(ndfile.ErrDType, "expected "+a.DType.String()+" as in the first file, found "+b.DType.String())
	}
	found := slices.Clone(b.Shape)
	if len(found) == len(a.Shape) && axis >= 0 && axis < len(found) {
		found[axis] = a.Shape[axis]
	}
	if !slices.Equal(found, a.Shape) || !slices.Equal(a.Dims, b.Dims) {
		return ndfile.NewError(ndfile.ErrShape, "expected "+shapeText(a.Shape)+" as in the first file, but for the axis to join along, found "+shapeText(b.Shape))
	}
	return nil
}

// joint is several arrays one after the other along an axis. It can only be read.
type joint struct {
	*view // of the first; its methods for reading are not used
	parts []ndfile.Array
	axis  int
}

func newJoint(parts []ndfile.Array, axis int) *joint {
	j := &joint{view: whole(parts[0]), parts: parts, axis: axis}
	shape := slices.Clone(j.spec.Shape)
	shape[axis] = 0
	for _, p := range parts {
		s := p.Spec()
		shape[axis] += s.Shape[axis]
		j.spec.Masked = j.spec.Masked || s.Masked
	}
	j.spec.Shape = shape
	return j
}

// piece is a box of one of the parts.
type piece struct {
	array ndfile.Array
	box   ndarray.Box // in the array
	place ndarray.Box // in the box of the joint
}

// pieces cuts a box of the joint into boxes of its parts.
func (j *joint) pieces(box ndarray.Box) ([]piece, error) {
	if err := box.Check(j.spec.Shape); err != nil {
		return nil, err
	}
	step := int64(1)
	if box.Step != nil {
		step = box.Step[j.axis]
	}
	var list []piece
	end := int64(0)
	at, count := box.Start[j.axis], box.Count[j.axis]
	for done, i := int64(0), 0; done < count; i++ {
		begin := end
		end += j.parts[i].Spec().Shape[j.axis]
		if at >= end {
			continue
		}
		n := min(count-done, (end-1-at)/step+1)
		p := piece{array: j.parts[i], place: ndarray.Full(box.Count)}
		p.box = ndarray.Box{Start: slices.Clone(box.Start), Count: slices.Clone(box.Count), Step: box.Step}
		p.box.Start[j.axis], p.box.Count[j.axis] = at-begin, n
		p.place.Start[j.axis], p.place.Count[j.axis] = done, n
		list = append(list, p)
		if done += n; done < count {
			at += n * step
		}
	}
	return list, nil
}

func (j *joint) ReadBox(ctx context.Context, box ndarray.Box, dst ndarray.Buffer) error {
	return j.ReadMasked(ctx, box, dst, nil)
}

// ReadMasked implements [ndfile.Masked].
func (j *joint) ReadMasked(ctx context.Context, box ndarray.Box, dst ndarray.Buffer, mask []byte) error {
	list, err := j.pieces(box)
	if err != nil {
		return err
	}
	for _, p := range list {
		to, err := dst.Sub(p.place)
		if err != nil {
			return err
		}
		n, err := ndarray.Count(p.box.Count)
		if err != nil {
			return err
		}
		m, ok := p.array.(ndfile.Masked)
		if mask == nil || !ok {
			if err := p.array.ReadBox(ctx, p.box, to); err != nil {
				return err
			}
			scatter(mask, make([]byte, n), box.Count, p.place, j.axis)
			continue
		}
		part := make([]byte, n)
		if err := m.ReadMasked(ctx, p.box, to, part); err != nil {
			return err
		}
		scatter(mask, part, box.Count, p.place, j.axis)
	}
	return nil
}

// ReadStrings implements [ndfile.Strings].
func (j *joint) ReadStrings(ctx context.Context, box ndarray.Box, offsets []int64, data []byte, mask []byte) (int64, error) {
	list, err := j.pieces(box)
	if err != nil {
		return 0, err
	}
	texts := make([][]byte, len(offsets)-1)
	for _, p := range list {
		var part []byte
		if n, err := ndarray.Count(p.box.Count); err == nil && mask != nil {
			part = make([]byte, n)
		}
		t, err := readTexts(ctx, p.array, p.box, part)
		if err != nil {
			return 0, err
		}
		scatter(texts, t, box.Count, p.place, j.axis)
		scatter(mask, part, box.Count, p.place, j.axis)
	}
	return putTexts(texts, offsets, data)
}

// scatter copies the elements of a place, which has all of every axis but one, into
// a row-major array of that shape; dst nil is nothing.
func scatter[T any](dst, src []T, shape []int64, place ndarray.Box, axis int) {
	if dst == nil {
		return
	}
	row := int64(1)
	for _, n := range shape[axis+1:] {
		row *= n
	}
	size := place.Count[axis] * row
	for at := place.Start[axis] * row; len(src) > 0; at += shape[axis] * row {
		copy(dst[at:at+size], src)
		src = src[size:]
	}
}
