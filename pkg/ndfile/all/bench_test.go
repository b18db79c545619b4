package all_test

import (
	"encoding/binary"
	"path/filepath"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// BenchmarkSmall opens a small array of each format, by its content and by its
// extension, and loads it.
func BenchmarkSmall(b *testing.B) {
	data := make([]byte, 8*1000)
	for i := range 1000 {
		binary.LittleEndian.PutUint64(data[8*i:], uint64(i))
	}
	for _, f := range all.Formats {
		if f.Caps()&ndfile.CapCreate == 0 {
			continue
		}
		items := []ndfile.Item{{Data: ndarray.Buffer{DType: ndarray.MustParse("<i8"), Shape: []int64{1000}, Data: data}}}
		for _, ext := range []string{"", f.Extensions()[0]} {
			path := filepath.Join(b.TempDir(), "array"+ext)
			opt := ndfile.SaveOptions{Format: f.Name()}
			if err := ndfile.Save(b.Context(), all.Formats, path, items, opt); err != nil {
				items[0].Name = "data" // a dataset wants a name
				if err := ndfile.Save(b.Context(), all.Formats, path, items, opt); err != nil {
					b.Fatal(err)
				}
			}
			b.Run(f.Name()+"/open"+ext, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					file, err := ndfile.Open(b.Context(), all.Formats, path, ndfile.OpenOptions{})
					if err != nil {
						b.Fatal(err)
					}
					file.Abort()
				}
			})
			b.Run(f.Name()+"/load"+ext, func(b *testing.B) {
				buf := make([]byte, len(data)+4096)
				var infos [1]ndfile.LoadInfo
				b.ReportAllocs()
				for b.Loop() {
					sink := ndfile.Sink{Buf: buf, Infos: infos[:]}
					if err := ndfile.Load(b.Context(), all.Formats, ndfile.OS, path, &sink); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
