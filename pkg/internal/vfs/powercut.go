package vfs

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// PowerCut says what a power failure leaves of a Mem that records. What was synced
// is there: content by File.Sync, entries of a folder by SyncDir, and neither by
// the other. Of the rest each change is there or not, as Seed has it:
//
//   - an entry that was made, moved, swapped or removed. A rename within a folder is
//     one change, one between two folders is one change in each;
//   - each block of what was written to a file. The size of a file can be there
//     without the blocks, which are zero then, and a truncation without what was
//     written after it.
//
// That is what POSIX leaves open, and more than any file system does.
//
// Ordered is ext4 as it is mounted by default (data=ordered, auto_da_alloc): of all
// changes to folders and all truncations those up to some moment are there, and any
// sync is such a moment. A file that grows has the beginning of what was written to
// it, never zeros. What was written before the file was renamed over another one, or
// was closed after it had been cut to nothing, is there if the rename, or any later
// change, is.
type PowerCut struct {
	Seed    uint64
	Ordered bool
	Block   int // bytes of a block; 0 is 4096
}

// Outage is one power failure. It is valid until Mem changes.
type Outage struct {
	mem    *Mem
	cut    PowerCut
	chosen []choice
}

// choice is how much of a change is there: n of most.
type choice struct{ n, most int64 }

// Record makes m remember all changes from here on, for Cut. What is there counts
// as synced.
func (m *Mem) Record() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.log = &journal{}
	m.root.record(m.log, "")
}

func (n *memNode) record(log *journal, path string) {
	n.log, n.path, n.changes = log, path, nil
	n.syncedData, n.syncedEntries = slices.Clone(n.data), maps.Clone(n.entries)
	for name, child := range n.entries {
		child.record(log, path+"/"+name)
	}
}

// journal is what a Mem that records knows of changes; the lock of Mem guards it.
type journal struct {
	seq    int64 // of the last change
	synced int64 // of the last one before a sync of anything
	moving bool  // the entries that change belong to one move
	nodes  []*memNode
}

// change is one change of a node that is not synced.
type change struct {
	kind changeKind
	seq  int64
	name string // of the entry
	node *memNode
	off  int64 // of what was written, or the size
	data []byte
}

type changeKind uint8

const (
	changeEntry changeKind = iota
	changeSize
	changeData
	changeFlush // no change: what was written before goes to disk before what comes
)

// note records a change of n.
func (n *memNode) note(c change) {
	log := n.log
	if log == nil {
		return
	}
	if !log.moving {
		log.seq++
	}
	if c.seq = log.seq; c.kind == changeEntry && c.node != nil {
		c.node.path = n.path + "/" + c.name
	}
	if n.changes == nil {
		log.nodes = append(log.nodes, n)
	}
	n.changes = append(n.changes, c)
}

// noteMove makes one change of two entries.
func (n *memNode) noteMove(do func()) {
	if log := n.log; log != nil {
		log.seq++
		log.moving = true
		defer func() { log.moving = false }()
	}
	do()
}

// noteSync: nothing of n is pending any more.
func (n *memNode) noteSync() {
	if n.log == nil {
		return
	}
	n.log.synced = n.log.seq
	if n.changes != nil {
		n.changes = nil
		n.log.nodes = slices.DeleteFunc(n.log.nodes, func(o *memNode) bool { return o == n })
	}
}

// Cut cuts the power now. Several cuts can be made at one moment; m goes on. m must
// record.
func (m *Mem) Cut(c PowerCut) *Outage {
	if c.Block == 0 {
		c.Block = 4096
	}
	o := &Outage{mem: m, cut: c}
	rng := rand.New(rand.NewPCG(c.Seed, 17))
	// Most disks have nearly all of it or nearly nothing, and often all names and
	// sizes and no content: pure chance would find too little of what goes wrong.
	shares := [...]float64{0, 0.1, 0.5, 0.9, 1}
	metadata, content := shares[rng.IntN(len(shares))], shares[rng.IntN(len(shares))]
	o.build(func(i int, kind changeKind, most int64) int64 {
		share := metadata
		if kind == changeData {
			share = content
		}
		n := most
		if rng.Float64() >= share {
			n = rng.Int64N(most)
		}
		o.chosen = append(o.chosen, choice{n, most})
		return n
	}, nil)
	return o
}

// Disk is what is left. It does not record.
func (o *Outage) Disk() *Mem { return o.again(nil) }

// again makes the disk as it was chosen.
func (o *Outage) again(lost func(string)) *Mem {
	return o.build(func(i int, _ changeKind, most int64) int64 {
		if i < len(o.chosen) {
			return min(o.chosen[i].n, most)
		}
		return most
	}, lost)
}

// Explain says which changes fails needs to be lost: those of which it fails
// without. It changes the outage to that.
func (o *Outage) Explain(fails func(disk *Mem) bool) string {
	for i := range o.chosen {
		c := &o.chosen[i]
		if was := c.n; was < c.most {
			if c.n = c.most; !fails(o.Disk()) {
				c.n = was
			}
		}
	}
	var list []string
	o.again(func(what string) { list = append(list, what) })
	return fmt.Sprintf("seed %d, ordered %t, block %d; lost: %s", o.cut.Seed, o.cut.Ordered, o.cut.Block, strings.Join(list, "; "))
}

// build makes a disk. choose gives how much of change i is there, up to most; lost
// is told what is not.
func (o *Outage) build(choose func(i int, kind changeKind, most int64) int64, lost func(string)) *Mem {
	m := o.mem
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.log == nil {
		panic("vfs: Cut of a Mem that does not record")
	}
	count := 0
	b := blackout{PowerCut: o.cut, nodes: map[*memNode]*memNode{}, until: m.log.seq}
	b.choose = func(kind changeKind, most int64, what func() string) int64 {
		if most == 0 {
			return 0
		}
		n := choose(count, kind, most)
		count++
		if n < most && lost != nil {
			lost(what())
		}
		return n
	}
	if o.cut.Ordered {
		b.until = m.log.synced
		b.until += b.choose(changeEntry, m.log.seq-m.log.synced, func() string { return "all but the first changes of folders" })
	}
	contents := map[*memNode]*memNode{}
	for _, n := range m.log.nodes { // in one order, whatever can be reached
		c := &memNode{}
		if n.mode == Dir {
			c.entries = b.entries(n)
		} else {
			c.data = b.content(n)
		}
		contents[n] = c
	}
	return &Mem{ino: m.ino, root: b.survivor(m.root, contents)}
}

// blackout makes one disk.
type blackout struct {
	PowerCut
	until  int64 // Ordered: the last change of folders that is there
	choose func(kind changeKind, most int64, what func() string) int64
	nodes  map[*memNode]*memNode
}

// survivor copies a node with all below it.
func (b *blackout) survivor(n *memNode, contents map[*memNode]*memNode) *memNode {
	if c := b.nodes[n]; c != nil {
		return c // has two names
	}
	c := &memNode{mode: n.mode, ino: n.ino, modTime: n.modTime, access: n.access, link: n.link}
	b.nodes[n] = c
	data, entries := n.syncedData, n.syncedEntries
	if changed := contents[n]; changed != nil {
		data, entries = changed.data, changed.entries
	}
	c.data, c.syncedData = slices.Clone(data), slices.Clone(data)
	if n.mode == Dir {
		c.entries = make(map[string]*memNode, len(entries))
		for name, child := range entries {
			c.entries[name] = b.survivor(child, contents)
		}
		c.syncedEntries = maps.Clone(c.entries)
	}
	return c
}

// entries are those of a folder.
func (b *blackout) entries(n *memNode) map[string]*memNode {
	entries := maps.Clone(n.syncedEntries)
	if entries == nil {
		entries = map[string]*memNode{}
	}
	seq, there := int64(-1), false
	for _, c := range n.changes {
		switch {
		case b.Ordered:
			there = c.seq <= b.until
		case c.seq != seq: // else the other half of a move
			there = b.choose(changeEntry, 1, func() string { return fmt.Sprintf("change %d of the folder %s/: %s", c.seq, n.path, c.name) }) == 1
		}
		seq = c.seq
		switch {
		case !there:
		case c.node == nil:
			delete(entries, c.name)
		default:
			entries[c.name] = c.node
		}
	}
	return entries
}

// content is that of a file.
func (b *blackout) content(n *memNode) []byte {
	data := slices.Clone(n.syncedData)
	flushed := 0 // so many changes are there
	for i, c := range n.changes {
		if b.Ordered && c.kind == changeFlush && c.seq <= b.until {
			flushed = i
		}
	}
	for i, c := range n.changes {
		switch {
		case c.kind == changeFlush:
		case i < flushed && c.kind == changeSize:
			data = resized(data, c.off)
		case i < flushed:
			data = overwritten(data, c.off, c.data)
		case c.kind == changeSize && b.Ordered:
			if c.seq > b.until {
				return data // what comes after it has no blocks yet
			}
			data = resized(data, c.off)
		case c.kind == changeSize:
			if b.choose(changeSize, 1, func() string { return fmt.Sprintf("size %d of %s", c.off, n.path) }) == 1 {
				data = resized(data, c.off)
			}
		default:
			var whole bool
			if data, whole = b.write(n, data, c); !whole {
				return data
			}
		}
	}
	return data
}

// write puts the blocks of one write into data that are there. Not whole: no write
// after it has made the file longer.
func (b *blackout) write(n *memNode, data []byte, c change) (_ []byte, whole bool) {
	old, end := int64(len(data)), c.off+int64(len(c.data))
	if end > old && !b.Ordered {
		if b.choose(changeSize, 1, func() string { return fmt.Sprintf("size %d of %s", end, n.path) }) == 1 {
			data = resized(data, end)
		}
	}
	inside := end // what lies before it is written in any order
	if b.Ordered {
		inside = min(end, old)
	}
	block := int64(b.Block)
	for at := c.off; at < inside; {
		next := min((at/block+1)*block, inside)
		what := func() string { return fmt.Sprintf("bytes %d to %d of %s", at, next, n.path) }
		if b.choose(changeData, 1, what) == 1 {
			data = overwritten(data, at, c.data[at-c.off:next-c.off])
		}
		at = next
	}
	if inside == end {
		return data, true
	}
	from := max(old, c.off)
	blocks := (end-1)/block - from/block + 1
	n1 := b.choose(changeData, blocks, func() string { return fmt.Sprintf("the end of what was written to %s at %d to %d", n.path, c.off, end) })
	if n1 == 0 {
		return data, false
	}
	to := min((from/block+n1)*block, end)
	return overwritten(data, from, c.data[from-c.off:to-c.off]), n1 == blocks
}

// resized is data with another length; new bytes are zero.
func resized(data []byte, size int64) []byte {
	if size <= int64(len(data)) {
		return data[:size]
	}
	return append(data, make([]byte, size-int64(len(data)))...)
}

// overwritten is data with p at off.
func overwritten(data []byte, off int64, p []byte) []byte {
	if end := off + int64(len(p)); end > int64(len(data)) {
		data = resized(data, end)
	}
	copy(data[off:], p)
	return data
}
