package zarr

import (
	"context"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/formattest"
)

// TestOtherPowerCuts: power cuts for arrays in shards, and for groups with
// consolidated metadata, which nobody gets without asking.
func TestOtherPowerCuts(t *testing.T) {
	for _, c := range []struct {
		name string
		of   format
		kind ndfile.Kind
		new  func(ndfile.File) ndfile.File

		quirks formattest.Quirks
	}{
		{"shards", format{&version3}, ndfile.Single, func(f ndfile.File) ndfile.File { return inShards{f} }, formattest.Quirks{}},
		{"shards in groups", format{&version3}, ndfile.Dataset, func(f ndfile.File) ndfile.File { return inShards{f} }, formattest.Quirks{}},
		{"consolidated3", format{&version3}, ndfile.Dataset, func(f ndfile.File) ndfile.File { return consolidated{f} }, formattest.Quirks{}},
		{"consolidated2", format{&version2}, ndfile.Dataset, func(f ndfile.File) ndfile.File { return consolidated{f} }, formattest.Quirks{SortedAttrs: true, DimsInAttrs: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			formattest.RunOne(t, formattest.Config{Format: otherFormat{c.of, c.new}, Kind: c.kind, DTypes: []string{"<i4", "|S3", "<f8"}, Quirks: c.quirks}, "PowerCuts")
		})
	}
}

// otherFormat is a format whose new files are made otherwise.
type otherFormat struct {
	format
	wrap func(ndfile.File) ndfile.File
}

// Caps leaves out raw chunks: a shard does not take them.
func (o otherFormat) Caps() ndfile.Caps { return o.format.Caps() &^ ndfile.CapChunked }

func (o otherFormat) Create(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.CreateOptions) (ndfile.File, error) {
	f, err := o.format.Create(ctx, fsys, path, opt)
	if err != nil {
		return nil, err
	}
	return o.wrap(f), nil
}

// inShards puts two chunks along each axis into a shard.
type inShards struct{ ndfile.File }

func (f inShards) Add(ctx context.Context, name string, spec ndfile.Spec) (ndfile.Array, error) {
	if spec.Chunks == nil {
		for _, n := range spec.Shape {
			spec.Chunks = append(spec.Chunks, max(1, n/3))
		}
	}
	for _, n := range spec.Chunks {
		spec.Shards = append(spec.Shards, 2*n)
	}
	return f.File.Add(ctx, name, spec)
}

// consolidated ends with consolidated metadata.
type consolidated struct{ ndfile.File }

func (f consolidated) Close(ctx context.Context) error {
	if err := f.File.(ndfile.Tree).Consolidate(ctx, true); err != nil {
		return err
	}
	return f.File.Close(ctx)
}
