package crosstest

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/internal/crashtest"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/zarr"
)

// shardChanges are changes of the first of several shards: of parts of its chunks, of
// all of them, and of rows behind the last one.
var shardChanges = map[string]func(dir string) error{
	"shard: part": func(dir string) error { return update(dir, writeAt([]int64{1, 1}, 3, 3)) },
	"shard: all":  func(dir string) error { return update(dir, writeAt([]int64{0, 0}, 6, 4)) },
	"shard: append": func(dir string) error {
		return update(dir, func(_ ndfile.File, a ndfile.Array) error {
			return a.(ndfile.Resizer).Append(ctx, 0, counting(100, 1, a.Spec().Shape[1]))
		})
	},
	"large shard: part": func(dir string) error { return update(dir, writeAt([]int64{100, 100}, 3, 300)) },
}

func writeAt(start []int64, shape ...int64) func(ndfile.File, ndfile.Array) error {
	return func(_ ndfile.File, a ndfile.Array) error {
		return a.WriteBox(ctx, ndarray.Box{Start: start, Count: shape}, counting(100, shape...))
	}
}

// shardedStore makes the store that is changed, in a new folder.
func shardedStore(t *testing.T, spec ndfile.Spec) (dir string) {
	t.Helper()
	dir = t.TempDir()
	spec.DType = i4
	f, err := zarr.Format3.Create(ctx, ndfile.OS, storePath(dir), ndfile.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := f.Add(ctx, "", spec)
	if err == nil {
		err = a.WriteBox(ctx, ndarray.Full(spec.Shape), counting(1, spec.Shape...))
	}
	if err == nil {
		err = f.Close(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestKilledShards: a shard whose writer is killed at any system call is the old one or
// the new one, also where it is larger than what is held in memory.
func TestKilledShards(t *testing.T) {
	small := shardedStore(t, ndfile.Spec{Shape: []int64{11, 7}, Chunks: []int64{3, 2}, Shards: []int64{6, 4}, Codecs: []codec.Spec{{Name: "zstd"}}})
	large := shardedStore(t, ndfile.Spec{Shape: []int64{1100, 1100}, Chunks: []int64{50, 100}, Shards: []int64{1100, 1100}, Codecs: []codec.Spec{{Name: "crc32c"}}})
	for _, c := range []struct{ op, template string }{
		{"shard: part", small}, {"shard: all", small}, {"shard: append", small}, {"large shard: part", large},
	} {
		t.Run(c.op, func(t *testing.T) {
			old, err := contentOf(c.template)
			if err != nil {
				t.Fatal(err)
			}
			var whole *content
			seen := map[string]int{}
			crashtest.Sweep(t, c.op, c.template, func(dir, at string) {
				s, err := contentOf(dir)
				switch {
				case err != nil:
					t.Errorf("%s: %v", at, err)
					return
				case whole == nil:
					whole = &s
				case s.equal(old):
					seen["old"]++
				case s.equal(*whole):
					seen["new"]++
				default:
					t.Errorf("%s: neither the old elements nor the new ones", at)
				}
				if !slices.Equal(s.shape, old.shape) {
					return // it was appended
				}
				if err := shardChanges[c.op](dir); err != nil {
					t.Errorf("%s: done again: %v", at, err)
				}
				if again, err := contentOf(dir); err != nil || !bytes.Equal(again.data, whole.data) {
					t.Errorf("%s: done again it holds something else (%v)", at, err)
				}
			})
			t.Log(seen)
			if seen["old"] == 0 {
				t.Errorf("found %v, expected old states too", seen)
			}
		})
	}
}

// TestKilledMigration: an array of Zarr 2 whose migration is killed at any system call has
// its elements, as the one version or the other, and another call completes it.
func TestKilledMigration(t *testing.T) {
	const op = "migrate to v3"
	template := newStore(t, zarr.Format2)
	old, err := contentOf(template)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	crashtest.Sweep(t, op, template, func(dir, at string) {
		s, err := contentOf(dir)
		if err != nil || !s.equal(old) {
			t.Errorf("%s: other elements (%v)", at, err)
		}
		seen[s.format]++
		if err := migrate(dir, "zarr3"); err != nil && s.format == "zarr2" {
			t.Errorf("%s: done again: %v", at, err)
		}
		if again, err := contentOf(dir); err != nil || !again.equal(old) || again.format != "zarr3" {
			t.Errorf("%s: done again it is %s (%v)", at, again.format, err)
		}
	})
	if t.Log(seen); seen["zarr2"] == 0 || seen["zarr3"] < 2 {
		t.Errorf("found %v, expected both versions", seen)
	}
}
