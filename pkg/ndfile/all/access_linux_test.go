package all_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

const stranger = 1234 // an owner who is not the writer

// acl lets a second user read, beside the owner and the group.
func acl() []byte {
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range [][3]uint32{{1, 6, ^uint32(0)}, {2, 4, stranger + 1}, {4, 4, ^uint32(0)}, {16, 4, ^uint32(0)}, {32, 0, ^uint32(0)}} {
		b = binary.LittleEndian.AppendUint16(b, uint16(e[0]))
		b = binary.LittleEndian.AppendUint16(b, uint16(e[1]))
		b = binary.LittleEndian.AppendUint32(b, e[2])
	}
	return b
}

// closeUp takes from others what they may do with a file, or a folder and what is
// in it. Attributes are set where the file system has them.
func closeUp(t *testing.T, root string) {
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o2750)
		} else if err == nil {
			err = os.Chmod(path, 0o640)
			if e := syscall.Setxattr(path, "system.posix_acl_access", acl(), 0); e != nil && e != syscall.ENOTSUP {
				err = e
			}
		}
		if e := syscall.Setxattr(path, "user.note", []byte("keep "+filepath.Base(path)), 0); e != nil && e != syscall.ENOTSUP {
			err = e
		}
		if os.Getuid() == 0 && err == nil {
			mode := os.FileMode(0o640)
			if err = os.Chown(path, stranger, stranger); d.IsDir() {
				mode = 0o2750 | os.ModeSetgid
			}
			if err == nil {
				err = os.Chmod(path, mode)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		return nil
	})
}

// access describes who may do what with everything below root; notes are the
// attributes that users wrote.
func access(t *testing.T, root string) (who, notes map[string]string) {
	who, notes = map[string]string{}, map[string]string{}
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		var st syscall.Stat_t
		if err == nil {
			err = syscall.Lstat(path, &st)
		}
		if err != nil {
			t.Fatal(err)
		}
		buf, note := make([]byte, 256), make([]byte, 256)
		n, _ := syscall.Getxattr(path, "system.posix_acl_access", buf)
		m, _ := syscall.Getxattr(path, "user.note", note)
		rel := strings.TrimPrefix(path, root)
		who[rel] = fmt.Sprintf("%o %d:%d %x", st.Mode, st.Uid, st.Gid, buf[:max(n, 0)])
		notes[rel] = string(note[:max(m, 0)])
		return nil
	})
	return who, notes
}

// TestAccessIsKept goes through every call that replaces a file, or makes one in a
// store, of every format. What was replaced keeps its mode, owner, ACL and extended
// attributes; what is new in a store is like the rest of it.
func TestAccessIsKept(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o022))
	if path := os.Getenv("NDFILE_TEST_LIBNETCDF"); path != "" {
		os.Setenv("NDFILE_LIBNETCDF", path)
	}
	ctx := t.Context()
	done := 0
	for _, f := range all.Formats {
		if f.Caps()&ndfile.CapCreate == 0 {
			continue
		}
		numbers := func(n int64) ndarray.Buffer {
			b, err := ndarray.NewBuffer(ndarray.MustParse("<i4"), []int64{n})
			if err != nil {
				t.Fatal(err)
			}
			for i := range b.Data {
				b.Data[i] = byte(i * 7)
			}
			return b
		}
		table := f.Name() == "bcolz"
		names := []string{""}
		if table || f.Name() == "ds" || f.Name() == "netcdf" || f.Name() == "npz" {
			names = []string{"a", "b"}
		}
		write := func(path string, opt ndfile.CreateOptions, n int64) error {
			opt.Format = f.Name()
			file, err := ndfile.Create(ctx, all.Formats, path, opt)
			if err != nil {
				return err
			}
			for _, name := range names {
				spec := ndfile.Spec{DType: ndarray.MustParse("<i4"), Shape: []int64{n}}
				if f.Caps()&ndfile.CapChunked != 0 {
					spec.Chunks = []int64{16}
				}
				a, err := file.Add(ctx, name, spec)
				if err == nil {
					err = a.WriteBox(ctx, ndarray.Box{Start: []int64{0}, Count: []int64{n}}, numbers(n))
				}
				if err != nil {
					file.Abort()
					return err
				}
			}
			return file.Close(ctx)
		}
		// change opens the file for changes.
		change := func(do func(file ndfile.File, a ndfile.Array) error) func(path string) error {
			return func(path string) error {
				file, err := ndfile.Open(ctx, all.Formats, path, ndfile.OpenOptions{Mode: ndfile.Update, Format: f.Name()})
				if err != nil {
					return err
				}
				a, err := file.Array(names[0])
				if err == nil {
					err = do(file, a)
				}
				if err != nil {
					file.Abort()
					return err
				}
				return file.Close(ctx)
			}
		}
		save := func(opt ndfile.WriteOptions) func(path string) error {
			return func(path string) error {
				var items []ndfile.Item
				for _, name := range names {
					items = append(items, ndfile.Item{Name: name, Data: numbers(90)})
				}
				return ndfile.Save(ctx, all.Formats, path, items, ndfile.SaveOptions{Format: f.Name(), WriteOptions: opt})
			}
		}
		calls := map[string]func(path string) error{
			"save":        save(ndfile.WriteOptions{}),
			"save synced": save(ndfile.WriteOptions{Sync: true}),
			"save direct": save(ndfile.WriteOptions{Commit: ndfile.CommitDirect}),
			"create":      func(path string) error { return write(path, ndfile.CreateOptions{}, 123) },
			"through a link": func(path string) error {
				link := path + ".link"
				if err := os.Symlink(path, link); err != nil {
					return err
				}
				defer os.Remove(link)
				return save(ndfile.WriteOptions{})(link)
			},
			"convert": func(path string) error {
				from := filepath.Join(t.TempDir(), "from.npy")
				if err := ndfile.Save(ctx, all.Formats, from, []ndfile.Item{{Data: numbers(40)}}, ndfile.SaveOptions{}); err != nil {
					return err
				}
				_, err := ndfile.Convert(ctx, all.Formats, from, path, ndfile.ConvertOptions{To: f.Name(), AllowLoss: true, Overwrite: true})
				return err
			},
			"write": change(func(_ ndfile.File, a ndfile.Array) error {
				return a.WriteBox(ctx, ndarray.Box{Start: []int64{20}, Count: []int64{30}}, numbers(30))
			}),
			"attributes": change(func(file ndfile.File, a ndfile.Array) error {
				at := a.Attrs()
				if at == nil {
					at = file.Attrs()
				}
				at.Set("note", ndfile.StringValue("x"))
				return nil
			}),
			"append": change(func(file ndfile.File, a ndfile.Array) error {
				if r, ok := file.(ndfile.RowResizer); ok && table {
					return r.AppendRows(ctx, []ndarray.Buffer{numbers(50), numbers(50)})
				}
				return a.(ndfile.Resizer).Append(ctx, 0, numbers(50))
			}),
			"grow": change(func(file ndfile.File, a ndfile.Array) error {
				if r, ok := file.(ndfile.RowResizer); ok && table {
					return r.ResizeRows(ctx, 200)
				}
				return a.(ndfile.Resizer).Resize(ctx, []int64{200})
			}),
			"shrink": change(func(file ndfile.File, a ndfile.Array) error {
				if r, ok := file.(ndfile.RowResizer); ok && table {
					return r.ResizeRows(ctx, 20)
				}
				return a.(ndfile.Resizer).Resize(ctx, []int64{20})
			}),
			"add": change(func(file ndfile.File, a ndfile.Array) error {
				n := a.Spec().Shape[0]
				c, err := file.Add(ctx, "c", ndfile.Spec{DType: ndarray.MustParse("<i4"), Shape: []int64{n}})
				if err == nil {
					err = c.WriteBox(ctx, ndarray.Box{Start: []int64{0}, Count: []int64{n}}, numbers(n))
				}
				return err
			}),
			"remove": change(func(file ndfile.File, a ndfile.Array) error { return file.(ndfile.Remover).Remove(ctx, "b") }),
		}
		if f.Name() == "zarr0" {
			for _, to := range []string{"zarr2", "zarr3"} {
				calls["migrate to "+to] = func(path string) error {
					_, err := ndfile.Convert(ctx, all.Formats, path, path, ndfile.ConvertOptions{To: to})
					return err
				}
			}
		}
		updates := []string{"write", "attributes", "append", "grow", "shrink", "add", "remove"}
		for _, call := range slices.Sorted(maps.Keys(calls)) {
			if f.Caps()&ndfile.CapUpdate == 0 && slices.Contains(updates, call) ||
				f.Caps()&ndfile.CapResize == 0 && slices.Contains(updates[2:5], call) || !table && slices.Contains(updates[5:], call) {
				continue
			}
			t.Run(f.Name()+"/"+call, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "data"+f.Extensions()[0])
				err := write(path, ndfile.CreateOptions{}, 100)
				if f.Name() == "netcdf" && errors.Is(err, ndfile.ErrNotSupported) {
					t.Skip(err)
				}
				if err != nil {
					t.Fatal(err)
				}
				closeUp(t, path)
				before, notes := access(t, path)
				var file, folder string // how all of them are
				for rel, is := range before {
					if info, err := os.Lstat(path + rel); err == nil && info.IsDir() {
						folder = is
					} else {
						file = is
					}
				}
				err = calls[call](path)
				if errors.Is(err, ndfile.ErrNotSupported) && call == "attributes" {
					return // the format has none
				}
				if err != nil {
					t.Fatal(err)
				}
				after, kept := access(t, path)
				for rel, is := range after {
					want := file
					if info, err := os.Lstat(path + rel); err == nil && info.IsDir() {
						want = folder
					}
					if is != want {
						t.Errorf("%q is %s, expected %s", rel, is, want)
					}
					if note, old := notes[rel]; old && kept[rel] != note {
						t.Errorf("%q has the attribute %q, expected %q", rel, kept[rel], note)
					}
				}
				done++
			})
		}
	}
	if done < 60 && !t.Failed() {
		t.Errorf("only %d calls were tried", done)
	}
}
