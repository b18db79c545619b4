package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// lsJSON is a file in "ls --json".
type lsJSON struct {
	Path   text  `json:"path"`
	Format text  `json:"format"`
	Kind   text  `json:"kind"`
	Arrays int   `json:"arrays"`
	Bytes  int64 `json:"bytes"`
}

func newLs() *cobra.Command {
	return &cobra.Command{
		Use:   "ls [FILE|FOLDER]...",
		Short: "list files of arrays: format, kind, number of arrays, bytes on disk",
		Long: "ls lists files, one on a line: format, kind, number of arrays, bytes on disk, path.\n" +
			"Of a folder that is not a store it lists what is in it, without what is no file of\n" +
			"arrays. Without arguments it lists the current folder.",
		Example:     "  ndfile ls\n  ndfile ls data/ '*.ra'",
		Annotations: schema([]lsJSON{}),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"."}
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 8, 2, ' ', 0)
			err := listEach(cmd, args, func(t target, tell func(lsJSON)) error {
				return listPath(cmd.Context(), t.path, tell)
			}, func(r lsJSON) {
				fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%s\n", r.Format, r.Kind, r.Arrays, r.Bytes, printablePath(string(r.Path)))
			})
			return joined(err, w.Flush())
		},
	}
}

// listPath lists a file or store, or the files and stores in a folder.
func listPath(ctx context.Context, path string, tell func(lsJSON)) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		_, err := ndfile.Detect(ctx, all.Formats, ndfile.OS, path)
		if errors.Is(err, ndfile.ErrFormat) {
			return listFolder(ctx, path, tell)
		}
	}
	return listFile(ctx, path, tell)
}

// listFolder lists what is in a folder and is of a known format.
func listFolder(ctx context.Context, path string, tell func(lsJSON)) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return ndfile.Locate(err, path, "", false)
	}
	var failed failures
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			failed.add(ndfile.Locate(err, path, "", false))
			break
		}
		if !e.IsDir() && !e.Type().IsRegular() && e.Type()&fs.ModeSymlink == 0 {
			continue // reading a device or a FIFO may never end
		}
		child := filepath.Join(path, e.Name())
		if _, err := ndfile.Detect(ctx, all.Formats, ndfile.OS, child); err != nil {
			if !errors.Is(err, ndfile.ErrFormat) {
				failed.add(err)
			}
			continue
		}
		failed.add(listFile(ctx, child, tell))
	}
	return failed.err()
}

func listFile(ctx context.Context, path string, tell func(lsJSON)) error {
	f, format, err := ndfile.OpenAs(ctx, all.Formats, path, ndfile.OpenOptions{})
	if err != nil {
		return err
	}
	defer f.Abort()
	size, err := bytesOnDisk(path)
	if err == nil {
		tell(lsJSON{text(path), text(format.Name()), text(f.Kind().String()), len(f.Names()), size})
	}
	return err
}

// bytesOnDisk is the size of a file, or of all files in a folder.
func bytesOnDisk(path string) (size int64, err error) {
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return 0, err
	}
	err = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}
