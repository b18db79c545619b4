package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// convertJSON is a conversion in "convert --json" and in the commands that edit.
type convertJSON struct {
	Source      text       `json:"source"`
	Destination text       `json:"destination"`
	Losses      []lossJSON `json:"losses"`
	Done        bool       `json:"done"`
}

// lossJSON is something that the destination cannot hold.
type lossJSON struct {
	Array text `json:"array"`
	What  text `json:"what"`
	Why   text `json:"why"`
}

func newConvert() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "convert SOURCE[:NAME][SLICE]... DESTINATION",
		Short: "convert files into another format",
		Long: "convert copies files into another format, or the same. The format of the new file is --to,\n" +
			"or goes by its extension. Several sources, or one and a folder that exists and is no store,\n" +
			"go into that folder, under their own names with the extension of --to.\n\n" +
			"What the destination has no place for (missing values, names of axes, attributes, element\n" +
			"types) is found first, listed, and refused without --allow-loss; --plan only lists it. An\n" +
			"array that a single-array format is to hold is named, as SOURCE:NAME or with --name; one\n" +
			"that comes from such a format is called data, or --name.\n\n" +
			"--shards puts as many chunks into a shard of zarr3 as take about so many bytes decoded\n" +
			"(64MiB), or none into any; chunks that are compressed alike are copied as they are.\n" +
			"--chunks cuts arrays otherwise: as time=1,lat=90 those that have such axes, as 1,90,180\n" +
			"those of so many axes; all is the whole axis. --codecs compresses them otherwise: none,\n" +
			"names with levels as zstd:5, or a JSON list. What the format cannot do is refused.\n\n" +
			"Data move in blocks of 16 MiB, so files may be larger than memory. The new file appears\n" +
			"when it is whole, or not at all, and is then compared with the source, bit by bit, unless\n" +
			"--no-check is given. With SOURCE itself as DESTINATION, --force and a format that can take\n" +
			"it over, a store is converted in place.",
		Example: "  ndfile convert x.ds x.bcolz\n  ndfile convert --plan x.ds x.ra --name temp\n" +
			"  ndfile convert 'old/*.zarr' new/ --to zarr2\n  ndfile convert x.nc x.zarr --to zarr3 --chunks time=1 --codecs zstd:5 --shards 64MiB\n  ndfile convert 'x.ds:temp[0:10]' first.ra --allow-loss",
		Annotations: schema([]convertJSON{}),
		Args:        cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			sources, dst := args[:len(args)-1], args[len(args)-1]
			jobs, err := convertJobs(cmd, sources, dst)
			if err != nil {
				return err
			}
			var failed failures
			list := []convertJSON{}
			for _, j := range jobs {
				done, err := j.run(cmd)
				list = append(list, done)
				failed.add(err)
				if cmd.Context().Err() != nil {
					break
				}
			}
			if asJSON(cmd) {
				failed.add(emit(cmd, list))
			}
			return failed.err()
		},
	}
	addConvertFlags(cmd)
	f := cmd.Flags()
	f.String("from", "", "the format of the source; else it goes by the content")
	f.String("name", "", "the one array to convert; of a single-array file, its new name")
	f.String("shards", "", "the size of a shard, as 64MiB; none: each chunk in a file of its own")
	f.Bool("default-fill", false, "of NetCDF: take the value of what was never written for missing")
	f.String("chunks", "", "the extents of a chunk: time=1,lat=90, or 1,90,180; all: the whole axis")
	f.String("codecs", "", "how chunks are compressed: none, NAME[:LEVEL],..., or a JSON list")
	f.Bool("plan", false, "only tell what would be lost")
	cmd.RegisterFlagCompletionFunc("from", formatNames)
	return cmd
}

// addConvertFlags adds the flags of all commands that write a file from others.
func addConvertFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.String("to", "", "the format of the new file; else it goes by the extension")
	f.Bool("allow-loss", false, "write the new file even if it cannot hold all")
	f.Bool("no-check", false, "leave out the comparison with the source")
	f.Bool("force", false, "overwrite the new file if it exists")
	cmd.RegisterFlagCompletionFunc("to", formatNames)
}

// job is one conversion.
type job struct {
	src  string
	dst  string
	from string // format, "" by content
	to   string // format, "" by extension
	name string // the one array, or ""
	edit edit   // what changes on the way, or nil
}

// convertJobs pairs sources with destinations.
func convertJobs(cmd *cobra.Command, sources []string, dst string) ([]job, error) {
	var list []target
	for _, arg := range sources {
		t, err := targets(arg)
		if err != nil {
			return nil, err
		}
		list = append(list, t...)
	}
	to := word(cmd, "to")
	folder := isFolder(cmd, dst)
	if len(list) > 1 && !folder {
		return nil, usage("the destination of several sources is a folder that exists and is no store").On(dst)
	}
	jobs := make([]job, len(list))
	for i, t := range list {
		j := job{src: t.path, dst: dst, from: word(cmd, "from"), to: to, name: word(cmd, "name")}
		if folder {
			format, err := ndfile.FormatByName(all.Formats, to)
			if err != nil {
				return nil, usage("files that go into a folder need a format: --to").On(dst)
			}
			base := filepath.Base(t.path)
			j.dst = filepath.Join(dst, base[:len(base)-len(filepath.Ext(base))]+format.Extensions()[0])
		}
		if t.named && t.name != "" {
			if j.name != "" {
				return nil, usage("the array is named twice: after a colon and by --name").On(t.path)
			}
			j.name = t.name
		}
		if t.index != nil {
			j.edit = sliceEdit(t)
		}
		jobs[i] = j
	}
	return jobs, nil
}

// isFolder tells a folder from a store.
func isFolder(cmd *cobra.Command, path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	_, err = ndfile.Detect(cmd.Context(), all.Formats, ndfile.OS, path)
	return errors.Is(err, ndfile.ErrFormat)
}

// run converts, and prints what is lost.
func (j *job) run(cmd *cobra.Command) (convertJSON, error) {
	result := convertJSON{Source: text(j.src), Destination: text(j.dst), Losses: []lossJSON{}}
	losses, err := j.convert(cmd)
	for _, l := range losses {
		result.Losses = append(result.Losses, lossJSON{text(l.Array), text(l.What), text(l.Why)})
		if !asJSON(cmd) && !errors.Is(err, ndfile.ErrLoss) {
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s %s\n", printablePath(j.src), either(flag(cmd, "plan"), "would lose", "lost"), l)
		}
	}
	if flag(cmd, "plan") {
		if err == nil && len(losses) == 0 && !asJSON(cmd) {
			fmt.Fprintf(cmd.OutOrStdout(), "%s: nothing would be lost\n", printablePath(j.src))
		}
		return result, err
	}
	result.Done = err == nil
	return result, err
}

func (j *job) convert(cmd *cobra.Command) ([]ndfile.Loss, error) {
	opt := ndfile.ConvertOptions{From: j.from, To: j.to, Name: j.name, AllowLoss: flag(cmd, "allow-loss"),
		NoCheck: flag(cmd, "no-check"), Overwrite: flag(cmd, "force"), DefaultFill: flag(cmd, "default-fill")}
	formats := all.Formats
	var err error
	if opt.ShardSize, err = shardSize(word(cmd, "shards")); err != nil {
		return nil, err
	}
	if opt.Storage, err = storageFlags(cmd); err != nil {
		return nil, err
	}
	if j.edit != nil {
		if sameFile(j.src, j.dst) {
			return nil, usage("the source cannot be overwritten by a part of it or an edit; edits have --in-place").On(j.dst)
		}
		if formats, opt.From, err = withEdit(cmd.Context(), j.src, j.from, j.edit); err != nil {
			return nil, err
		}
	}
	if flag(cmd, "plan") {
		return j.plan(cmd, formats, opt)
	}
	bar := newProgress(cmd, j.dst, countBytes)
	defer bar.stop()
	opt.Progress = bar.set
	return ndfile.Convert(cmd.Context(), formats, j.src, j.dst, opt)
}

// shardSize reads --shards: a number of bytes with or without a unit, or none.
func shardSize(text string) (int64, error) {
	switch text {
	case "":
		return 0, nil
	case "none":
		return ndfile.NoShards, nil
	}
	digits := strings.TrimRight(text, "BKMGi")
	unit, ok := map[string]int64{"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[text[len(digits):]]
	n, err := strconv.ParseInt(digits, 10, 33)
	if !ok || err != nil || n < 1 {
		return 0, usage("--shards: expected a size such as 64MiB, or none, found " + strconv.Quote(text))
	}
	return n * unit, nil
}

// plan is a conversion that is cancelled when the losses are known, which is before
// anything is written.
func (j *job) plan(cmd *cobra.Command, formats []ndfile.Format, opt ndfile.ConvertOptions) ([]ndfile.Loss, error) {
	if sameFile(j.src, j.dst) {
		return nil, usage("a conversion in place has no plan").On(j.dst)
	}
	planned := false
	opt.AllowLoss, opt.Overwrite = true, true
	opt.Progress = func(int64, int64) bool {
		planned = true
		return false
	}
	losses, err := ndfile.Convert(cmd.Context(), formats, j.src, j.dst, opt)
	if planned && errors.Is(err, ndfile.ErrCanceled) {
		err = nil
	}
	return losses, err
}

// sameFile tells whether two paths lead to the same file or folder.
func sameFile(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}
