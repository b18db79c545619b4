package codec

import (
	"slices"
	"strconv"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
)

// Spec names a codec and configures it.
type Spec struct {
	Name string
	// Conf is the configuration; nil is none.
	Conf *Object
	// Ignorable: a reader that does not know the codec may leave it out
	// ("must_understand": false of Zarr 3).
	Ignorable bool
}

// ParseSpecs reads a list of codecs as every API has it: each is a name, or an
// object with "name" and the configuration beside it or as "configuration", or an
// object with the "id" of Zarr 2 and the configuration beside it.
func ParseSpecs(list Value) ([]Spec, error) {
	if list.Kind() != pyjson.KindList {
		return nil, errorf(ErrConfig, "", "codecs: expected a list, found %s", short(list))
	}
	specs := make([]Spec, len(list.Items()))
	for i, v := range list.Items() {
		var err error
		if specs[i], err = parseSpec(v); err != nil {
			return nil, err
		}
	}
	return specs, nil
}

func parseSpec(v Value) (Spec, error) {
	if name, ok := v.Str(); ok && name != "" {
		return Spec{Name: name}, nil
	}
	o := v.Object()
	for _, key := range [...]string{"name", "id"} {
		label, _ := o.Get(key)
		name, ok := label.Str()
		if !ok || name == "" {
			continue
		}
		rest := o.Clone()
		rest.Delete(key)
		if conf, ok := o.Get("configuration"); ok {
			rest.Delete("configuration")
			if conf.Object() == nil || slices.ContainsFunc(rest.Keys(), func(k string) bool { return k != "must_understand" }) {
				break
			}
			spec := Spec{Name: name, Conf: conf.Object()}
			if must, ok := rest.Get("must_understand"); ok {
				b, isBool := must.Bool()
				spec.Ignorable = isBool && !b
			}
			return spec, nil
		}
		return Spec{Name: name, Conf: rest}, nil
	}
	return Spec{}, errorf(ErrConfig, "", `codecs: expected a name or an object with a "name", found %s`, short(v))
}

// Value is the Spec as ParseSpecs reads it: a name, or an object with a name and
// the configuration beside it.
func (s Spec) Value() Value {
	if s.Conf.Len() == 0 {
		return pyjson.String(s.Name)
	}
	o := members("name", s.Name)
	for i := range s.Conf.Len() {
		key, v := s.Conf.At(i)
		o.Set(key, v)
	}
	return pyjson.ObjectValue(o)
}

// Value3 is the Spec as Zarr 3 writes it: an object with "name" and, where there is
// one, "configuration", which zarr-python wants of the codecs of numcodecs always.
func (s Spec) Value3() Value {
	o, conf := members("name", s.Name), s.Conf
	if _, ok := cutPrefix(s.Name, numcodecs); ok && conf == nil {
		conf = members()
	}
	if conf != nil {
		o.Set("configuration", pyjson.ObjectValue(conf))
	}
	return pyjson.ObjectValue(o)
}

// Value2 is the Spec as Zarr 2 writes it: an object with "id" and the configuration
// beside it.
func (s Spec) Value2() Value {
	o := members("id", s.Name)
	for i := range s.Conf.Len() {
		key, v := s.Conf.At(i)
		o.Set(key, v)
	}
	return pyjson.ObjectValue(o)
}

// SpecsValue is the list that ParseSpecs reads.
func SpecsValue(specs []Spec) Value {
	list := make([]Value, len(specs))
	for i, s := range specs {
		list[i] = s.Value()
	}
	return pyjson.List(list...)
}

// New makes the codec that a Spec names in a version of Zarr. A name that the
// version does not have, but the other, is found too. An unknown one is
// ErrNotSupported.
func New(s Spec, v Version) (Codec, error) {
	d, plain := find(s.Name, v)
	if d == nil {
		d, plain = find(s.Name, V2+V3-v)
	}
	if d == nil {
		return nil, errorf(ErrNotSupported, "", "the codec %s is not known", strconv.Quote(s.Name))
	}
	c := &conf{Object: s.Conf, name: s.Name, version: plain}
	codec, err := d.new(c)
	if err == nil {
		err = c.end()
	}
	if err != nil {
		return nil, err
	}
	_, byID := cutPrefix(s.Name, numcodecs)
	return named{codec, d, byID && v == V3}, nil
}

// named is a codec that knows how it is called.
type named struct {
	Codec
	def *Definition
	// byID: in Zarr 3 it was asked for as a codec of numcodecs.
	byID bool
}

// inVersion is the whole Spec of a codec as a version of Zarr writes it.
func (n named) inVersion(v Version) (Spec, error) {
	name, plain := n.def.ID, V2
	switch {
	case v == V2 && name == "":
		return Spec{}, errorf(ErrNotSupported, n.def.Name, "Zarr 2 has no such codec")
	case v == V3 && n.def.Name != "" && !n.byID:
		name, plain = n.def.Name, V3
	case v == V3:
		name = numcodecs + name
	}
	conf, err := n.Config(plain)
	return Spec{Name: name, Conf: conf}, err
}
