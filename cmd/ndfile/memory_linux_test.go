package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// asCommand makes the test binary the command.
const asCommand = "NDFILE_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		status := run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)
		if data, err := os.ReadFile("/proc/self/status"); err == nil {
			os.Stdout.Write(data)
		}
		os.Exit(status)
	}
	os.Exit(m.Run())
}

// A store of 512 MiB (2 GiB in make torture) converts, and is compared, in at most 256.
// Its chunks cut both axes, those of the destination only the first: none can be copied
// as it is.
func TestConvertInBoundedMemory(t *testing.T) {
	mib := int64(512)
	if os.Getenv("NDFILE_TORTURE") != "" {
		mib = 2048
	}
	dir := t.TempDir()
	src := filepath.Join(dir, "x.zarr")
	ctx := context.Background()
	f, err := ndfile.Create(ctx, all.Formats, src, ndfile.CreateOptions{Format: "zarr0"})
	if err != nil {
		t.Fatal(err)
	}
	d := ndarray.MustParse("<i8")
	a, err := f.Add(ctx, "", ndfile.Spec{DType: d, Shape: []int64{mib * 128, 1024}, Chunks: []int64{512, 256},
		Codecs: ndfile.Compression{Codec: "lz4", Level: 1, Shuffle: 1}.Codecs()})
	if err != nil {
		t.Fatal(err)
	}
	block, err := ndarray.NewBuffer(d, []int64{2048, 1024})
	if err != nil {
		t.Fatal(err)
	}
	for row := int64(0); row < mib*128; row += 2048 {
		for i := 0; i < len(block.Data); i += 8 {
			block.Data[i], block.Data[i+2] = byte(i>>13), byte(row>>11)
		}
		if err := a.WriteBox(ctx, ndarray.Box{Start: []int64{row, 0}, Count: block.Shape}, block); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if peak := peakOf(t, "convert", src, filepath.Join(dir, "x.bcolz"), "--to", "bcolz"); peak > 256 {
		t.Errorf("peak of %d MiB", peak)
	}
}

// peakOf runs the command and gives the most memory that it took, in MiB.
func peakOf(t *testing.T, args ...string) int {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1", "GOMEMLIMIT=200MiB")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_, rest, found := strings.Cut(string(out), "VmHWM:")
	if !found {
		t.Skip("no VmHWM in /proc/self/status")
	}
	peak, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: peak of %d MiB", args, peak>>10)
	return peak >> 10
}

// An array in shards of 8 MiB, not compressed, is taken apart, put together again and
// encoded anew in at most four shards and 64 MiB.
func TestShardsInBoundedMemory(t *testing.T) {
	mib := int64(160)
	if os.Getenv("NDFILE_TORTURE") != "" {
		mib = 2048
	}
	dir, ctx := t.TempDir(), context.Background()
	at := func(name string) string { return filepath.Join(dir, name+".zarr") }
	f, err := ndfile.Create(ctx, all.Formats, at("a"), ndfile.CreateOptions{Format: "zarr3"})
	if err != nil {
		t.Fatal(err)
	}
	d := ndarray.MustParse("<i4")
	a, err := f.Add(ctx, "", ndfile.Spec{DType: d, Shape: []int64{mib * 256, 1024}, Chunks: []int64{64, 512}, Shards: []int64{2048, 1024}, Codecs: []codec.Spec{{Name: "crc32c"}}})
	if err != nil {
		t.Fatal(err)
	}
	block, err := ndarray.NewBuffer(d, []int64{2048, 1024})
	if err != nil {
		t.Fatal(err)
	}
	for row := int64(0); row < mib*256; row += 2048 {
		for i := range block.Data {
			block.Data[i] = byte(int64(i)*7 + row>>11)
		}
		if err := a.WriteBox(ctx, ndarray.Box{Start: []int64{row, 0}, Count: block.Shape}, block); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(ctx); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"convert", at("a"), at("same"), "--to", "zarr3", "--no-check"},
		{"convert", at("same"), at("plain"), "--to", "zarr3", "--shards", "none", "--no-check"},
		{"convert", at("plain"), at("again"), "--to", "zarr3", "--shards", "8MiB"},
	} {
		if peak := peakOf(t, args...); peak > 4*8+64 {
			t.Errorf("%s: peak of %d MiB", args, peak)
		}
	}
}
