package bcolz

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ndfile/ndfile/pkg/blosc"
	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// How long a column is has several witnesses: the shape, nbytes and cbytes of its
// meta/sizes, its chunk files, and the other columns of the table. Where a writer
// was stopped they differ in ways that are known; otherwise something is damaged,
// and nothing may be taken for surplus. A verification and the first change of an
// open root judge by the same rules.

// account is what the witnesses of a column say.
type account struct {
	*column
	broken  error // why meta/sizes cannot be read
	claimed int64 // rows of the shape; unknown: it cannot be read
	nbytes  int64 // rows of nbytes; unknown: there is none

	files []int64 // numbers of the chunk files, in rising order
	rows  []int64 // of each file; -1 where it cannot be decoded
	errs  []error // of each file: why it is not as the shape wants it

	held     int64       // rows from the first on that the files hold without a gap
	scraps   bool        // behind the first gap there are files that can be decoded
	odd      atomic.Bool // a chunk has elements of another size than dtype says
	verdict  verdict
	accepted int64 // rows that the column is taken to have
	because  string
}

// verdict is what becomes of the witnesses of a column.
type verdict uint8

const (
	sound      verdict = iota
	unfinished         // chunk files behind the end, of an append or a trim that was stopped
	miscounted         // meta/sizes is wrong: the others agree on another length
	torn               // the last chunks are missing or damaged
	doubtful           // the witnesses contradict each other
)

// What is no number of rows.
const (
	unknown  = -1
	unlikely = -2 // nbytes is there, but of no number of rows
)

// newAccount begins the account of a column whose storage is known.
func newAccount(c *column, claimed int64) *account {
	a := &account{column: c, claimed: claimed, nbytes: unlikely}
	switch row := c.rowBytes(); {
	case !c.sizes.hasNbytes:
		a.nbytes = unknown
	case c.sizes.nbytes >= 0 && c.sizes.nbytes%row == 0:
		a.nbytes = c.sizes.nbytes / row
	}
	return a
}

// rowBytes is the size of a row in memory.
func (c *column) rowBytes() int64 { return c.chunkBytes() / c.storage.chunklen }

// chunkCount is the number of chunks of so many rows.
func (c *column) chunkCount(rows int64) int64 {
	n := rows / c.storage.chunklen
	if rows%c.storage.chunklen > 0 {
		n++
	}
	return n
}

// decoded decodes chunk file i and notes its rows.
func (a *account) decoded(ctx context.Context, i int) error {
	k := a.files[i]
	a.rows[i] = a.storage.chunklen
	index := make([]int64, len(a.chunks.Chunks))
	index[0] = k
	n := a.chunkCount(max(a.claimed, 0))
	if k < n-1 {
		if a.errs[i] = a.chunks.CheckChunk(ctx, index); a.errs[i] == nil || saysNothing(a.errs[i]) {
			return fatal(a.errs[i])
		}
	}
	if k == n-1 {
		a.errs[i] = a.chunks.CheckChunk(ctx, index)
	}
	if saysNothing(a.errs[i]) {
		return a.errs[i]
	}
	// It may be right for another length.
	a.rows[i] = -1
	rows, err := a.chunkRows(ctx, k)
	if err != nil {
		return a.failed(i, err)
	}
	shape := slices.Clone(a.chunks.Shape())
	if shape[0] = k*a.storage.chunklen + rows; shape[0] < 0 {
		return nil
	}
	alone, err := a.newChunks(shape)
	if err == nil {
		err = alone.CheckChunk(ctx, index)
	}
	if err == nil {
		a.rows[i] = rows
	}
	return a.failed(i, err)
}

// failed notes why file i cannot be decoded.
func (a *account) failed(i int, err error) error {
	if a.errs[i] == nil {
		a.errs[i] = err
	}
	return fatal(err)
}

// saysNothing tells of an error that it is not about the file: the call was canceled, or
// memory is short. What is judged by it could be cut off.
func saysNothing(err error) bool {
	if err == nil {
		return false
	}
	kind := ndfile.KindOf(err)
	return kind == ndfile.ErrCanceled || kind == ndfile.ErrNoMemory
}

// fatal drops all errors but those that say nothing.
func fatal(err error) error {
	if saysNothing(err) {
		return err
	}
	return nil
}

// chunkRows is the number of rows that the header of a chunk file tells.
func (a *account) chunkRows(ctx context.Context, k int64) (int64, error) {
	c, path := a.column, chunkPath(a.dir, k)
	if k > (1<<62)/c.storage.chunklen {
		return 0, ndfile.NewError(ndfile.ErrCorrupt, "the number of the chunk is too large").On(path)
	}
	f, err := c.file.disk.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	head := make([]byte, blpkSize+blosc.HeaderSize)
	if err := flat.ReadFull(ctx, f, head, 0); err != nil {
		return 0, err
	}
	info, err := blosc.Info(head[blpkSize:])
	if err != nil {
		return 0, err
	}
	if size, err := typeSize(c.storage.dtype); err != nil || size != info.TypeSize {
		a.odd.Store(true)
	}
	row, n := c.rowBytes(), int64(info.NBytes)
	if n <= 0 || n%row != 0 || n/row > c.storage.chunklen {
		return 0, ndfile.NewError(ndfile.ErrCorrupt, "expected 1 to "+decimal(c.storage.chunklen)+" rows of "+decimal(row)+" bytes, found "+decimal(n)+" bytes").On(path)
	}
	return n / row, nil
}

// measure goes through the files: what they hold from the first row on.
func (a *account) measure() {
	next, open := int64(0), true
	for i, k := range a.files {
		good := a.rows[i] >= 0
		switch {
		case open && k == next && good:
			a.held += a.rows[i]
			next, open = next+1, a.rows[i] == a.storage.chunklen
		case good:
			open, a.scraps = false, true
		default:
			open = false
		}
	}
}

// surplus are the files behind that many rows.
func (a *account) surplus(rows int64) []int64 {
	i, _ := slices.BinarySearch(a.files, a.chunkCount(rows))
	return a.files[i:]
}

// support tells whether the chunk files are those of an array of just so many
// rows: all of them are there and good, and no others.
func (a *account) support(rows int64) bool {
	return rows >= 0 && a.held >= rows && int64(len(a.files)) == a.chunkCount(rows)
}

// cbytesFor tells whether cbytes is that of so many rows. bcolz lets it drift: only
// a yes is evidence.
func (a *account) cbytesFor(rows int64) bool {
	return rows >= 0 && rows <= a.held && a.sizes.cbytes == a.chunkBytes()+a.compressed(0, a.wholeChunks(rows))
}

// consistent tells whether shape and nbytes agree.
func (a *account) consistent() bool {
	return a.claimed >= 0 && (a.nbytes == unknown || a.nbytes == a.claimed)
}

// judge gives each column its verdict.
func judge(all []*account) {
	length, known := commonLength(all)
	for _, a := range all {
		a.judge(length, known, inOrder(all))
	}
}

// inOrder tells whether columns at one end of the table have one length and the
// rest another or the same, as writers leave them that were stopped: each goes
// through them in order.
func inOrder(all []*account) bool {
	steps := 0
	for i, a := range all {
		if i > 0 && a.claimed != all[i-1].claimed {
			steps++
		}
	}
	return steps <= 1
}

// commonLength is the number of rows of the columns whose own witnesses agree,
// if there are any and they are of one mind.
func commonLength(all []*account) (length int64, known bool) {
	length = -1
	for _, a := range all {
		switch {
		case !a.consistent() || !a.support(a.claimed) || length == a.claimed:
		case length >= 0:
			return -1, false
		default:
			length = a.claimed
		}
	}
	return length, length >= 0
}

// judge judges one column. length is that of the others, if it is known.
func (a *account) judge(length int64, known, inOrder bool) {
	a.verdict, a.accepted = sound, a.claimed
	behind := len(a.surplus(max(a.claimed, 0))) > 0
	switch {
	case !a.consistent():
		a.recount(length, known)
	case known && length > a.claimed && a.support(length) && (!inOrder || a.cbytesFor(length) && !a.cbytesFor(a.claimed)):
		a.verdict, a.accepted, a.because = miscounted, length, "as the chunk files and the other columns say"
	case behind && (a.held < a.claimed || a.cbytesFor(a.held) && !a.cbytesFor(a.claimed)):
		a.verdict = doubtful
	case behind:
		a.verdict = unfinished
	case a.held < a.claimed && a.scraps:
		a.verdict = doubtful
	case a.held < a.claimed:
		a.verdict = torn
	}
}

// recount finds the length of a column whose meta/sizes contradicts itself or
// cannot be read.
func (a *account) recount(length int64, known bool) {
	a.verdict, a.accepted = miscounted, -1
	for _, c := range []struct {
		rows    int64
		because string
	}{{length, "the other columns"}, {a.nbytes, "nbytes"}, {a.claimed, "the shape"}} {
		if a.support(c.rows) && (!known || c.rows == length) && (a.accepted < 0 || c.rows == a.held) {
			a.accepted, a.because = c.rows, "as the chunk files and "+c.because+" say"
		}
	}
	if a.accepted >= 0 && a.accepted != a.held && a.support(a.nbytes) && a.support(a.claimed) && !known {
		a.accepted = -1 // either may be right
	}
	if a.accepted < 0 && a.claimed < 0 && !a.scraps && a.held > 0 && (!known || a.held <= length) {
		a.accepted, a.because = a.held, "as the chunk files say"
	}
	if a.accepted < 0 || a.odd.Load() {
		a.verdict, a.accepted = doubtful, max(a.claimed, 0)
	}
}

// decodeAll decodes all chunk files of some columns.
func decodeAll(ctx context.Context, all []*account, progress func(done, total int64) bool) error {
	type job struct {
		*account
		i int
	}
	var jobs []job
	for _, a := range all {
		for i := range a.files {
			jobs = append(jobs, job{a, i})
		}
	}
	var mu sync.Mutex
	var first error
	err := ndfile.Parallel{Progress: progress}.Each(ctx, int64(len(jobs)), func(ctx context.Context, _ int, i int64) {
		if err := jobs[i].decoded(ctx, jobs[i].i); err != nil {
			mu.Lock()
			first = err
			mu.Unlock()
		}
	})
	if err == nil {
		err = first
	}
	for _, a := range all {
		a.measure()
	}
	return err
}

// list sets the chunk files of a column.
func (a *account) list() error {
	files, err := a.chunkFiles()
	a.files, a.rows, a.errs = files, make([]int64, len(files)), make([]error, len(files))
	return err
}

// glance is what decodeAll does, but goes by the names of the files and by the
// header of the last one: it takes them for good.
func (a *account) glance(ctx context.Context) {
	for i := range a.files {
		a.rows[i] = a.storage.chunklen
	}
	if last := len(a.files) - 1; last >= 0 {
		rows, err := a.chunkRows(ctx, a.files[last])
		if err != nil {
			rows = unknown
		}
		a.rows[last] = rows
	}
	a.measure()
}
