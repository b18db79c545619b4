package ndfile

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// Loss is something that a destination format cannot hold.
type Loss struct {
	// Array is the name of the array in the source; "" for what belongs to the file
	// and in files that are one array.
	Array string
	// What is "data" (the whole array is left out), "dtype" (values stay, in another
	// type), "mask" (missing elements become zeros), "attributes", "dims", "file
	// attributes", "group" (one without arrays)
	// or "trailing bytes"; "default fill" are elements that were never written and
	// become data.
	What string
	// Why is one line.
	Why string
}

// String is "array "x": what (why)".
func (l Loss) String() string {
	s := l.What + " (" + l.Why + ")"
	if l.Array != "" {
		s = "array " + strconv.Quote(l.Array) + ": " + s
	}
	return s
}

// plan says what a conversion does.
type plan struct {
	from, to Format
	// create are the options for the new file.
	create CreateOptions
	groups []groupAttrs
	arrays []carried
	losses []Loss
	kept   map[string]ndarray.DType // what stored has found out
	// keeper is the destination where it keeps the metadata that the source has in its
	// own terms; guest are those of the file, which go with the first array.
	keeper ExtraKeeper
	guest  *Attrs
	// host is the source where it may have kept such metadata for the destination.
	host      ExtraKeeper
	shardSize int64                               // ConvertOptions.ShardSize
	storage   func(name string, spec *Spec) error // ConvertOptions.Storage
	either    bool                                // the destination is a dataset or a single array, as its first array decides
	// refused is why the first of the arrays that are left out is.
	refused error
}

// groupAttrs is a group with its attributes.
type groupAttrs struct {
	name  string
	attrs *Attrs
}

// carried is an array that is converted.
type carried struct {
	from, to string // its names
	spec     Spec   // in the source
	add      Spec   // what is asked of the destination
	asked    bool   // the caller chose how it is stored: no other way will do
	// read is the dtype in which blocks are read, write the one of the same size in
	// which they are written; of variable length where strings are, on either side.
	read, write ndarray.DType
}

// bytes is the size of the elements in memory; those of variable length count as 16.
func (c *carried) bytes() int64 {
	size := c.write.Size
	if c.write.IsVar() {
		size = varItemSize
	}
	n, err := ndarray.NBytes(c.spec.Shape, size)
	if err != nil || c.spec.NoData {
		return 0
	}
	return n
}

// newPlan compares what the source has with what the destination can hold. Where
// Caps do not tell, it asks: by creating the file in memory, without data.
func newPlan(ctx context.Context, src File, from, to Format, opt *ConvertOptions) (*plan, error) {
	p := &plan{from: from, to: to, create: CreateOptions{Format: to.Name()}, kept: map[string]ndarray.DType{}, shardSize: opt.ShardSize, storage: opt.Storage}
	names := slices.Clone(src.Names())
	if opt.Name != "" && src.Kind() != Single {
		if !slices.Contains(names, opt.Name) {
			return nil, NewError(ErrName, "").In(opt.Name)
		}
		names = []string{opt.Name}
	}
	if err := p.file(ctx, src, names); err != nil {
		return nil, err
	}
	if err := p.unwritten(ctx, src, names); err != nil {
		return nil, err
	}
	if opt.Name == "" {
		if own, ok := src.(FileExtra); ok {
			p.losses = append(p.losses, own.Refused()...)
		}
		if err := p.tree(ctx, src); err != nil {
			return nil, err
		}
	}
	dry, err := p.dry(ctx)
	if err != nil {
		return nil, err
	}
	defer dry.Abort()
	kind := dry.Kind() // before Add decides
	if kind == Dataset && p.to.Caps()&CapGroups != 0 {
		p.either = p.singleToo(ctx)
	}
	if kind == Single && len(names) != 1 {
		return nil, NewError(ErrArgument, "a file of the format "+to.Name()+" is one array, and this one holds "+strconv.Itoa(len(names))+": name the one to convert")
	}
	p.askGroups(ctx, dry)
	for _, name := range names {
		a, err := src.Array(name)
		if err != nil {
			return nil, err
		}
		if err := p.array(ctx, dry, a, name, p.newName(src.Kind(), kind, name, opt.Name)); err != nil {
			return nil, Locate(err, "", name, src.Kind() != Single)
		}
	}
	if len(names) > 0 && len(p.arrays) == 0 {
		err := NewError(KindOf(p.refused), "cannot be converted to "+to.Name()+": "+reason(p.refused))
		return nil, Locate(err, "", names[0], src.Kind() != Single)
	}
	return p, nil
}

// newName is the name of an array in the destination.
func (p *plan) newName(from, to Kind, name, wanted string) string {
	switch {
	case to == Single:
		return ""
	case to == Dataset && p.either && (wanted == "" && from == Single || wanted != "" && from != Single):
		return "" // one array, then
	case from == Single && wanted != "":
		return wanted
	case to == Table && (from == Single || wanted != ""):
		return "" // not a table, then
	case from == Single:
		return "data"
	}
	return name
}

// singleToo tells whether a new file of the destination's format can be a single array
// although it has groups.
func (p *plan) singleToo(ctx context.Context) bool {
	f, err := p.to.Create(ctx, NewMem(), "/dry", CreateOptions{Format: p.to.Name()})
	if err != nil {
		return false
	}
	defer f.Abort()
	_, err = f.Add(ctx, "", Spec{DType: ndarray.MustParse("|u1"), Shape: []int64{0}})
	return err == nil
}

// lose notes a loss.
func (p *plan) lose(array, what, why string) {
	p.losses = append(p.losses, Loss{Array: array, What: what, Why: why})
}

// lacks notes a loss that follows from the destination's Caps, and tells so.
func (p *plan) lacks(c Caps, array, what, words string) bool {
	if p.to.Caps()&c != 0 {
		return false
	}
	p.lose(array, what, "the format "+p.to.Name()+" has no "+words)
	return true
}

// file plans attributes and trailing bytes of the file.
func (p *plan) file(ctx context.Context, src File, names []string) error {
	attrs := src.Attrs()
	if src.Kind() == Single && len(names) == 1 {
		if a, err := src.Array(names[0]); err != nil {
			return err
		} else if a.Attrs() == attrs {
			attrs = nil // those of the array
		}
	}
	if attrs.Len() > 0 && !p.lacks(CapFileAttrs, "", "file attributes", "attributes of the file") {
		p.create.Attrs = attrs
	}
	if err := p.fileExtra(src, names); err != nil {
		return err
	}
	if t, ok := src.(Trailer); ok {
		trailing, err := t.Trailing(ctx)
		if err != nil {
			return err
		}
		if trailing != nil && !p.lacks(CapTrailing, "", "trailing bytes", "bytes after the data") {
			p.create.Trailing = trailing
		}
	}
	return nil
}

// tree plans groups. Where the destination has none, the names of arrays tell of
// those that hold some; attributes and other groups are lost.
func (p *plan) tree(ctx context.Context, src File) error {
	t, ok := src.(Tree)
	if !ok {
		return nil
	}
	for _, name := range t.Groups() {
		attrs, err := t.GroupAttrs(ctx, name)
		if err != nil {
			return Locate(err, "", name, true)
		}
		holds := slices.ContainsFunc(src.Names(), func(array string) bool { return strings.HasPrefix(array, name+"/") })
		switch {
		case p.to.Caps()&CapGroups != 0:
			p.groups = append(p.groups, groupAttrs{name, attrs})
		case p.guest != nil:
			p.keepGroup(name, attrs)
		case attrs.Len() > 0:
			p.lacks(CapGroups, name, "attributes", "groups")
		case !holds:
			p.lacks(CapGroups, name, "group", "groups")
		}
	}
	return nil
}

// dry creates the destination in memory.
func (p *plan) dry(ctx context.Context) (File, error) {
	scratch := NewMem()
	f, err := p.to.Create(ctx, scratch, "/dry", p.create)
	if err != nil && p.create.Attrs != nil {
		opt := p.create
		opt.Attrs = nil
		if f, e := p.to.Create(ctx, scratch, "/dry", opt); e == nil {
			p.lose("", "file attributes", reason(err))
			p.create = opt
			return f, nil
		}
	}
	return f, err
}

// array plans one array.
func (p *plan) array(ctx context.Context, dry File, a Array, from, to string) error {
	c := carried{from: from, to: to, spec: a.Spec()}
	s := &c.spec
	c.add = Spec{DType: s.DType, Shape: s.Shape, NoData: s.NoData}
	switch {
	case p.from.Name() == p.to.Name():
	case !s.NoData:
		c.add.DType = p.stored(ctx, s.DType)
	}
	c.add.Extra = p.extra(s.Extra)
	if p.to.Caps()&CapChunked != 0 {
		c.add.Chunks, c.add.Shards, c.add.Codecs = s.Chunks, s.Shards, s.Codecs
		if c.add.DType.Equal(s.DType) {
			c.add.Fill = s.Fill
		}
	}
	if p.storage != nil {
		if err := p.choose(&c); err != nil {
			return err
		}
	}
	if p.shardSize != 0 && p.to.Caps()&CapChunked != 0 {
		c.add.Shards = shardsOf(&c.add, p.shardSize)
	}
	switch texts, ok := a.(Strings); {
	case c.add.Chunks == nil || c.asked:
	case ok && c.add.DType.IsVar():
		size, err := p.textSize(ctx, texts, s)
		if err != nil {
			return Locate(err, "", from, from != "")
		}
		c.add.Chunks = cutChunks(s.Chunks, size, convertBytes/2) // a chunk is there three times while it is written
	case !p.asTheyAre(ctx, a, &c):
		c.add.Chunks = cutChunks(s.Chunks, c.add.DType.Size, convertBytes)
	}
	losses := len(p.losses)
	if s.Masked && !p.lacks(CapMasked, from, "mask", "missing elements") {
		c.add.Masked = true
	}
	if s.Dims != nil && !p.lacks(CapDims, from, "dims", "names of axes") {
		c.add.Dims = s.Dims
	}
	if attrs := a.Attrs(); attrs.Len() > 0 && !p.lacks(CapArrayAttrs, from, "attributes", "attributes of arrays") {
		c.add.Attrs = attrs
	}
	shards := c.add.Shards
	added, err := p.ask(ctx, dry, &c)
	if err == nil && p.shardSize > 0 && (p.to.Caps()&CapChunked == 0 || shards != nil && c.add.Shards == nil) {
		return NewError(ErrNotSupported, "the format "+p.to.Name()+" has no shards")
	}
	if err == nil {
		err = p.settle(&c, added.Spec())
	}
	if err != nil {
		if KindOf(err) == ErrCanceled {
			return err
		}
		if c.asked {
			return NewError(KindOf(err), reason(err))
		}
		p.losses = p.losses[:losses]
		p.lose(from, "data", reason(err))
		if p.refused == nil {
			p.refused = err
		}
		return nil
	}
	if attrs := added.Attrs(); attrs != nil && attrs == dry.Attrs() && p.create.Attrs != nil {
		// File and array have one place for attributes.
		if c.add.Attrs != nil {
			p.lose("", "file attributes", "in the format "+p.to.Name()+" they are those of the array")
		} else {
			c.add.Attrs = p.create.Attrs
		}
		p.create.Attrs = nil
	}
	p.arrays = append(p.arrays, c)
	return nil
}

// textSize is how many bytes the texts of the largest chunk take in the mean: only
// decoding them tells.
func (p *plan) textSize(ctx context.Context, a Strings, s *Spec) (size int, err error) {
	size = varItemSize
	chunks := tiling{box: ndarray.Full(s.Shape), cell: s.Chunks}
	for box := range chunks.all() {
		n, err := ndarray.Count(box.Count)
		if err != nil {
			return 0, err
		}
		if n < 2 {
			continue // it cannot be cut
		}
		need := int64(0)
		for part := range RowBlocks(box.Count, varItemSize, convertBytes) {
			for axis := range part.Start {
				part.Start[axis] += box.Start[axis]
			}
			bytes, err := textBytes(ctx, a, part, s.Masked)
			if err != nil {
				return 0, err
			}
			need += bytes
		}
		size = max(size, int(min(need/n+1, convertBytes)))
	}
	return size, nil
}

// asTheyAre tells whether chunks can go along: they are small enough to be encoded
// anew, or can be copied without.
func (p *plan) asTheyAre(ctx context.Context, a Array, c *carried) bool {
	if n, err := ndarray.NBytes(c.spec.Chunks, max(1, c.add.DType.Size)); err == nil && n <= convertBytes {
		return true
	}
	trial := *c
	trial.add.Attrs, trial.add.Dims = nil, nil
	opt := CreateOptions{Format: p.to.Name()}
	f, err := p.to.Create(ctx, NewMem(), "/dry", opt)
	if err != nil {
		return true
	}
	defer f.Abort()
	b, err := addAnyhow(ctx, f, c.to, &trial.add, false)
	if err != nil {
		return true // what is wrong comes up again
	}
	pair := pair{carried: &trial, a: a}
	pair.into(b)
	src, _ := pair.chunked()
	// Of chunks with fewer rows at the end some formats take the last one only as a whole.
	return src != nil && (p.from.Name() == p.to.Name() || len(c.spec.Shape) > 0 && c.spec.Shape[0]%c.spec.Chunks[0] == 0)
}

// stored tells what the destination keeps elements of a dtype as. An array without
// elements shows it, written and read again: a file that is being created may know
// only what it was asked for.
func (p *plan) stored(ctx context.Context, d ndarray.DType) ndarray.DType {
	if got, ok := p.kept[d.String()]; ok {
		return got
	}
	got := d
	p.probe(ctx, d, func(s Spec) { got = s.DType })
	p.kept[d.String()] = got
	return got
}

// probe gives the Spec that an array without elements comes back with, if it does.
func (p *plan) probe(ctx context.Context, d ndarray.DType, found func(Spec)) {
	const path = "/probe"
	opt, scratch := CreateOptions{Format: p.to.Name()}, NewMem()
	f, err := p.to.Create(ctx, scratch, path, opt)
	if err != nil {
		return
	}
	name := p.newName(Single, f.Kind(), "", "")
	if _, err := f.Add(ctx, name, Spec{DType: d, Shape: []int64{0}}); err != nil {
		f.Abort()
		return
	}
	if err := f.Close(ctx); err != nil {
		return
	}
	if f, err = p.to.Open(ctx, scratch, path, OpenOptions{Format: opt.Format}); err != nil {
		return
	}
	defer f.Abort()
	if a, err := f.Array(name); err == nil {
		found(a.Spec())
	}
}

// ask adds the array to the dry file. What is refused only because of how chunks
// are stored is added without that; what is refused because of attributes, names
// of axes or a mask is added without, which is a loss.
func (p *plan) ask(ctx context.Context, dry File, c *carried) (Array, error) {
	var first error
	for _, drop := range []struct {
		what string
		has  bool
		from func(s *Spec)
	}{
		{"", true, func(*Spec) {}},
		{"attributes", c.add.Attrs != nil, func(s *Spec) { s.Attrs = nil }},
		{"dims", c.add.Dims != nil, func(s *Spec) { s.Dims = nil }},
		{"mask", c.add.Masked, func(s *Spec) { s.Masked = false }},
	} {
		if !drop.has {
			continue
		}
		s := c.add
		drop.from(&s)
		a, err := addAnyhow(ctx, dry, c.to, &s, c.asked)
		if err == nil {
			if c.add = s; drop.what != "" {
				p.lose(c.from, drop.what, reason(first))
			}
			return a, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// addAnyhow adds an array, if need be with another fill value, other codecs or
// another shape of chunks than spec says, which it then changes. Of what the caller
// asked for only the fill value may be another.
func addAnyhow(ctx context.Context, f File, name string, spec *Spec, asked bool) (a Array, err error) {
	as, noFill := func(*Spec) {}, func(s *Spec) { s.Fill = nil }
	changes := []func(s *Spec){
		as,
		func(s *Spec) { s.Shards = nil },
		func(s *Spec) { s.Codecs = nil },
		func(s *Spec) { s.Codecs, s.Shards = nil, nil },
		noFill,
		func(s *Spec) { s.Codecs, s.Shards, s.Chunks = nil, nil, nil },
		func(s *Spec) { s.Fill, s.Codecs, s.Shards, s.Chunks = nil, nil, nil, nil },
	}
	if asked {
		changes = []func(s *Spec){as, noFill}
	}
	for _, change := range changes {
		s := *spec
		change(&s)
		if a, err = f.Add(ctx, name, s); err == nil {
			*spec = s
			return a, nil
		}
		if s.Fill == nil && s.Codecs == nil && s.Chunks == nil {
			break
		}
	}
	return nil, err
}

// settle chooses how elements travel into what the destination made of the array.
func (p *plan) settle(c *carried, got Spec) error {
	if !slices.Equal(got.Shape, c.spec.Shape) {
		return NewError(ErrShape, "the shape "+shapeText(c.spec.Shape)+" becomes "+shapeText(got.Shape))
	}
	from, to := c.spec.DType, got.DType
	c.read, c.write = from, from
	if from.Native().Equal(to.Native()) || c.spec.NoData && from.Kind == ndarray.Invalid {
		return nil
	}
	becomes := from.String() + " becomes " + to.String()
	switch {
	case from.Kind == ndarray.Bytes && to.Kind == ndarray.VarBytes, from.Kind == ndarray.Unicode && to.Kind == ndarray.VarString:
		c.write = to
	case from.IsVar() || to.IsVar():
		return NewError(ErrDType, becomes)
	case ndarray.CanConvert(from, to):
		c.read, c.write = to, to
	case (from.Kind == ndarray.Record || from.Kind == ndarray.Raw) && to.Kind == ndarray.Raw && from.Size == to.Size:
		c.write = to
	default:
		return NewError(ErrDType, becomes)
	}
	p.lose(c.from, "dtype", becomes)
	return nil
}

// err is ErrLoss with all losses.
func (p *plan) err() error {
	list := make([]string, len(p.losses))
	for i, l := range p.losses {
		list[i] = l.String()
	}
	return NewError(ErrLoss, "the format "+p.to.Name()+" would lose "+strings.Join(list, "; "))
}
