package zarr

import (
	"slices"
	"strconv"

	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// extension reads a name with an optional configuration: "NAME" or {"name":
// NAME, "configuration": {...}}. what is the place, for messages. Without
// configuration conf is nil, which reads as empty.
func extension(what string, v pyjson.Value) (name string, conf *pyjson.Object, err error) {
	if name, ok := v.Str(); ok {
		return name, nil, nil
	}
	o := v.Object()
	nameValue, _ := o.Get("name")
	confValue, hasConf := o.Get("configuration")
	name, ok := nameValue.Str()
	if !ok || hasConf && confValue.Object() == nil {
		return "", nil, ndfile.NewError(ndfile.ErrCorrupt, what+": expected a name and a configuration, found "+metafile.Short(v))
	}
	return name, confValue.Object(), onlyKeys(what, o, "name", "configuration", "must_understand")
}

// onlyKeys refuses members that are not known.
func onlyKeys(what string, o *pyjson.Object, known ...string) error {
	for i := range o.Len() {
		if key, _ := o.At(i); !slices.Contains(known, key) {
			return ndfile.NewError(ndfile.ErrNotSupported, what+": the member "+quoted(key)+" is not supported")
		}
	}
	return nil
}

// readGrid3 reads the shape of chunks.
func (m *metadata) readGrid3(v pyjson.Value) error {
	name, conf, err := extension("chunk_grid", v)
	if err != nil {
		return err
	}
	if name == "rectilinear" {
		return m.readRectilinear3(conf)
	}
	if name != "regular" {
		return ndfile.NewError(ndfile.ErrNotSupported, "the chunk grid "+quoted(name)+" is not supported")
	}
	if err := onlyKeys("chunk_grid", conf, "chunk_shape"); err != nil {
		return err
	}
	shape, _ := conf.Get("chunk_shape")
	if shape.Kind() != pyjson.KindList {
		return ndfile.NewError(ndfile.ErrCorrupt, "chunk_grid: expected a chunk_shape, found "+metafile.Short(v))
	}
	m.chunks = make([]int64, len(shape.Items()))
	for i, item := range shape.Items() {
		n, ok := item.Int64()
		if !ok {
			return ndfile.NewError(ndfile.ErrCorrupt, "chunk_grid: expected a chunk_shape of integers, found "+metafile.Short(shape))
		}
		m.chunks[i] = n
	}
	return nil
}

// readKeys3 reads the names of chunks: c/0/1 for "default", 0.1 for "v2"; the
// separator can be either.
func (m *metadata) readKeys3(v pyjson.Value) error {
	name, conf, err := extension("chunk_key_encoding", v)
	if err != nil {
		return err
	}
	separator := map[string]string{"default": "/", "v2": "."}[name]
	if separator == "" {
		return ndfile.NewError(ndfile.ErrNotSupported, "the chunk key encoding "+quoted(name)+" is not supported")
	}
	if err := onlyKeys("chunk_key_encoding", conf, "separator"); err != nil {
		return err
	}
	if given, ok := conf.Get("separator"); ok {
		if separator, _ = given.Str(); separator != "." && separator != "/" {
			return ndfile.NewError(ndfile.ErrCorrupt, `chunk_key_encoding: expected the separator "." or "/", found `+metafile.Short(given))
		}
	}
	m.keys = keys2(separator, len(m.shape))
	if name == "default" {
		m.keys.prefix = "c"
		if len(m.shape) > 0 {
			m.keys.prefix += separator
		}
	}
	return nil
}

// readCodecs3 reads the codecs, with the names and the configurations that they have
// there.
func (m *metadata) readCodecs3(v pyjson.Value) error {
	if len(v.Items()) == 0 {
		return ndfile.NewError(ndfile.ErrCorrupt, "codecs: expected a list of codecs, found "+metafile.Short(v))
	}
	for _, item := range v.Items() {
		name, conf, err := extension("codecs", item)
		if err != nil {
			return err
		}
		must, ok := item.Object().Get("must_understand")
		b, isBool := must.Bool()
		m.specs = append(m.specs, codec.Spec{Name: name, Conf: conf, Ignorable: ok && isBool && !b})
	}
	return nil
}

// readDims3 reads the names of axes; one that is null is "".
func (m *metadata) readDims3(v pyjson.Value) error {
	if v.Kind() == pyjson.KindNull {
		return nil
	}
	dims := make([]string, len(v.Items()))
	bad := v.Kind() != pyjson.KindList || len(dims) != len(m.shape)
	for i, item := range v.Items() {
		name, ok := item.Str()
		dims[i] = name
		bad = bad || !ok && item.Kind() != pyjson.KindNull
	}
	if bad {
		return ndfile.NewError(ndfile.ErrCorrupt, "dimension_names: expected a name or null for each of "+strconv.Itoa(len(m.shape))+" axes, found "+metafile.Short(v))
	}
	m.dims = dims
	return nil
}
