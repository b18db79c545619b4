package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// An experiment is a group of rows that are measured together, in rounds.
type experiment struct {
	name, title string
	place       string // "tmpfs" or "disk"
	rounds      int
	bulky       bool   // one contender's files at a time, since they are large
	scale       string // what X counts, where a power law is to be fitted
	rows        []row
}

// A row is one case for several contenders. CASE is DTYPE:SHAPE[*VARIABLES][/CHUNK], as in int64:1000 (one variable of
// 1,000 int64), int64:1*100 (100 variables of one element each) and int32:320000/16 (in chunks of 16).
type row struct {
	case_      string
	operations []string
	contenders []string // WORKER/CONTENDER
	count      int      // pieces of work a round
	x          float64  // the size, where the experiment has a scale
}

// effort is how much is measured.
type effort struct {
	tiny, small, large   int    // files in all, for each contender
	largeShape           string // of the large case
	fileRounds           int    // rounds that the tiny and small files are spread over
	rounds               int    // of everything else
	maxFiles             int    // of the scaling row over files; as for the other scales
	maxVariables         int
	maxChunks            int
	storeBytes           int // of the large chunked arrays
	tinyChunks           int
	diskShare, diskLarge int // on the disk: a share of the tiny and small files, and how many large ones
}

// full is what "make bench" runs, and quick what CI runs to see that everything works.
var (
	full = effort{tiny: 100_000, small: 100_000, large: 10, largeShape: "100x1000x1000", fileRounds: 50, rounds: 7,
		maxFiles: 100_000, maxVariables: 10_000, maxChunks: 20_000, storeBytes: 64 << 20, tinyChunks: 20_000,
		diskShare: 10, diskLarge: 2}
	quick = effort{tiny: 300, small: 300, large: 2, largeShape: "10x100x100", fileRounds: 3, rounds: 2,
		maxFiles: 1000, maxVariables: 100, maxChunks: 200, storeBytes: 1 << 20, tinyChunks: 200,
		diskShare: 3, diskLarge: 1}
)

// slow are contenders that take over 100 µs a file: of tiny and small files they do a tenth.
const slowShare = 10

var slow = []string{"c/netcdf4", "c-wheel/netcdf4", "python/netcdf4", "python/cdf5", "python/h5py", "python/ds-format-netcdf"}

// The contenders for files of numbers.
var (
	inC      = named("c", "syscalls", "syscalls-atomic", "ds-direct", "ds", "ds-many", "ra-direct", "ra", "netcdf4", "cdf5")
	inCWheel = named("c-wheel", "netcdf4", "cdf5")
	inGo     = named("go", "os", "ds-direct", "ds", "ds-many", "ra-direct", "ra", "npy-direct")
	inPython = named("python", "syscalls", "syscalls-atomic", "ds-direct", "ds", "ds-many", "ra-direct", "ra", "npy-direct", "npy",
		"netcdf4", "cdf5", "ds-format", "ds-format-netcdf", "h5py", "numpy", "safetensors")
	inJulia = named("julia", "syscalls", "ds-direct", "ds", "ds-many", "ra-direct", "ra")
	inRust  = named("rust", "crate")
)

// named gives the names of contenders of one worker.
func named(worker string, contenders ...string) []string {
	out := make([]string, len(contenders))
	for i, c := range contenders {
		out[i] = worker + "/" + c
	}
	return out
}

// plan lists everything that is measured in tmpfs, and on the disk if there is one.
func plan(e effort, disk bool) []experiment {
	all := []experiment{
		e.files("tiny", "tiny: one int64", "int64:1", e.tiny, "tmpfs"),
		e.files("small", "small: 1,000 int64", "int64:1000", e.small, "tmpfs"),
		e.largeFiles("tmpfs", e.large),
		e.overFiles(), e.overVariables(), e.overChunks(), e.overThreads(),
		e.bcolz(), e.zarr(), e.blosc(), e.realistic(), e.parts(),
	}
	if disk {
		all = append(all,
			e.files("tiny", "tiny: one int64", "int64:1", e.tiny/e.diskShare, "disk"),
			e.files("small", "small: 1,000 int64", "int64:1000", e.small/e.diskShare, "disk"),
			e.largeFiles("disk", e.diskLarge))
	}
	return all
}

func (e effort) files(name, title, case_ string, files int, place string) experiment {
	rounds := min(e.fileRounds, files)
	if place == "disk" {
		rounds = min(rounds, 10)
	}
	return experiment{name: name, title: title, place: place, rounds: rounds, rows: []row{{
		case_: case_, operations: []string{"write", "read", "read-reused"}, count: files / rounds,
		contenders: slices.Concat(inC, inCWheel, inGo, inPython, inJulia, inRust),
	}}}
}

func (e effort) largeFiles(place string, files int) experiment {
	contenders := slices.Concat(
		named("c", "syscalls", "ds-direct", "ds", "ra", "netcdf4", "cdf5"), named("c-wheel", "netcdf4", "cdf5"),
		named("go", "os", "ds", "ra"), named("julia", "ds", "ra"), named("rust", "crate"),
		named("python", "syscalls", "ds-direct", "ds", "ra", "npy", "netcdf4", "cdf5", "ds-format", "ds-format-netcdf", "h5py", "numpy", "safetensors"))
	if place == "disk" { // where they would take 60 GB
		contenders = slices.Concat(named("c", "syscalls", "ds-direct", "ds", "netcdf4", "cdf5"),
			named("python", "ds", "ra", "netcdf4", "numpy"))
	}
	return experiment{name: "large", title: "large: float64, " + strings.ReplaceAll(e.largeShape, "x", " × "), place: place,
		rounds: files, bulky: true, rows: []row{{case_: "float64:" + e.largeShape, count: 1, contenders: contenders,
			operations: []string{"write", "read", "read-reused", "read-sum", "map-sum"}}}}
}

// The scales: sizes that grow by the same factor, up to the largest.

func (e effort) overFiles() experiment {
	x := experiment{name: "files", title: "files in one folder, of one int64 each", place: "tmpfs", scale: "files", rounds: min(e.rounds, 5)}
	for _, n := range powers(max(e.maxFiles/100, 1), e.maxFiles, 5) {
		x.rows = append(x.rows, row{case_: "int64:1", operations: []string{"write", "read"}, count: n, x: float64(n),
			contenders: slices.Concat(named("c", "syscalls", "ds-direct", "ds", "ds-many"), named("go", "ds", "ds-many"),
				named("python", "ds", "ds-many"), named("julia", "ds", "ds-many"))})
	}
	return x
}

func (e effort) overVariables() experiment {
	x := experiment{name: "variables", title: "variables of one int64 in one file", place: "tmpfs", scale: "variables", rounds: e.rounds}
	for _, n := range powers(1, e.maxVariables, 5) {
		contenders := slices.Concat(named("c", "ds-direct", "netcdf4"), named("go", "ds-direct"), named("python", "ds-direct"))
		if n <= 100 { // it takes 2.5 s for 1,000, and 100 times as long for 10,000
			contenders = append(contenders, "python/ds-format")
		}
		x.rows = append(x.rows, row{case_: fmt.Sprintf("int64:1*%d", n), operations: []string{"write", "read"},
			count: max(1, e.maxVariables/4/n), x: float64(n), contenders: contenders})
	}
	return x
}

func (e effort) overChunks() experiment {
	x := experiment{name: "chunks", title: "chunks of 16 int32 in one store", place: "tmpfs", scale: "chunks", rounds: e.rounds}
	for _, n := range powers(1, e.maxChunks, 5) {
		x.rows = append(x.rows, row{case_: fmt.Sprintf("int32:%d/16", 16*n), operations: []string{"write", "read"},
			count: max(1, e.maxChunks/10/n), x: float64(n), contenders: named("go", "bcolz", "zarr0", "zarr2", "zarr3")})
	}
	return x
}

func (e effort) overThreads() experiment {
	n := e.storeBytes / 4
	return experiment{name: "threads", title: "64 MiB in 1 MiB chunks, by 1 and 2 threads", place: "tmpfs", rounds: e.rounds, rows: []row{{
		case_: fmt.Sprintf("int32:%d/%d", n, max(1, n/64)), count: 1,
		operations: []string{"write-1", "write-2", "read-1", "read-2"}, contenders: named("go", "bcolz", "zarr0", "zarr2", "zarr3")}}}
}

// powers gives n sizes from the first to the last in equal ratios.
func powers(first, last, n int) []int {
	var out []int
	for i := range n {
		size := int(math.Round(float64(first) * math.Pow(float64(last)/float64(first), float64(i)/float64(n-1))))
		if len(out) == 0 || size > out[len(out)-1] {
			out = append(out, size)
		}
	}
	return out
}

// The stores in chunks and what they are made of, against the programs named in their issues.

func (e effort) bcolz() experiment {
	contenders := named("python", "ndfile", "bcolz-zipline")
	array := fmt.Sprintf("int64:%d", e.storeBytes/8)
	table := fmt.Sprintf("uint32:%d*20", e.storeBytes/64)
	return experiment{name: "bcolz", title: "bcolz stores", place: "tmpfs", rounds: e.rounds, rows: []row{
		{array, []string{"bcolz-write", "bcolz-read"}, contenders, 1, 0},
		{array, []string{"bcolz-item-anywhere"}, contenders, e.tinyChunks / 20, 0},
		{array, []string{"bcolz-item-near", "bcolz-append"}, contenders, e.tinyChunks / 2, 0},
		{table, []string{"bcolz-table-rows", "bcolz-table-column"}, contenders, e.tinyChunks / 20, 0},
		{"uint32:50", []string{"bcolz-open", "bcolz-open-item"}, contenders, e.tinyChunks / 40, 0},
	}}
}

func (e effort) zarr() experiment {
	contenders := named("python", "ndfile-zarr0", "ndfile-zarr2", "ndfile-zarr3", "zarr-python", "zarrs", "tensorstore")
	large := fmt.Sprintf("int32:%d/%d", e.storeBytes/4, max(1, e.storeBytes/4/64))
	tiny := fmt.Sprintf("int32:%d/16", 16*e.tinyChunks)
	slices := []string{"zarr-slice-anywhere", "zarr-slice-same"}
	return experiment{name: "zarr", title: "zarr stores", place: "tmpfs", rounds: e.rounds, rows: []row{
		{large, []string{"zarr-write", "zarr-read"}, contenders, 1, 0},
		{large, slices, contenders, max(1, e.tinyChunks/100), 0},
		{tiny, []string{"zarr-write", "zarr-read"}, contenders, 1, 0},
		{tiny, slices, contenders, max(1, e.tinyChunks/100), 0},
	}}
}

func (e effort) blosc() experiment {
	var operations []string
	for _, codec := range []string{"blosclz", "lz4", "lz4hc", "zlib", "zstd"} {
		operations = append(operations, "blosc-encode-"+codec, "blosc-decode-"+codec)
	}
	return experiment{name: "blosc", title: "Blosc chunks of 4 MiB, level 5, shuffle, one thread", place: "tmpfs", rounds: e.rounds, rows: []row{
		{"int32:1048576", operations, named("python", "ndfile", "blosc"), 3, 0},
		{"float64:524288", operations, named("python", "ndfile", "blosc"), 3, 0},
	}}
}
