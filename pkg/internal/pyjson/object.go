package pyjson

import (
	"maps"
	"slices"
)

// indexAbove is the number of members up to which a linear search is used.
const indexAbove = 16

// Object is an ordered set of members, as a Python dict. The zero Object and
// NewObject() are empty. A nil *Object reads as empty. Reading from several
// goroutines is safe, changing is not.
type Object struct {
	keys  []string
	vals  []Value
	index map[string]int // key -> position; nil up to indexAbove members
}

// NewObject returns an empty object.
func NewObject() *Object { return new(Object) }

// Len returns the number of members.
func (o *Object) Len() int {
	if o == nil {
		return 0
	}
	return len(o.keys)
}

// At returns member i in order; it panics unless 0 <= i < Len().
func (o *Object) At(i int) (key string, v Value) { return o.keys[i], o.vals[i] }

// Get returns the value of key.
func (o *Object) Get(key string) (Value, bool) {
	if i := o.find(key); i >= 0 {
		return o.vals[i], true
	}
	return Value{}, false
}

// Set gives key the value v, in its place when it is there, else at the end.
func (o *Object) Set(key string, v Value) {
	if i := o.find(key); i >= 0 {
		o.vals[i] = v
		return
	}
	if o.keys == nil {
		o.keys, o.vals = make([]string, 0, 4), make([]Value, 0, 4)
	}
	o.keys = append(o.keys, key)
	o.vals = append(o.vals, v)
	switch n := len(o.keys); {
	case o.index != nil:
		o.index[key] = n - 1
	case n > indexAbove:
		o.index = make(map[string]int, 2*n)
		for i, k := range o.keys {
			o.index[k] = i
		}
	}
}

// Delete removes key, keeps the order of the others, and tells whether it was
// there. Its time grows with the number of members behind key.
func (o *Object) Delete(key string) bool {
	i := o.find(key)
	if i < 0 {
		return false
	}
	o.keys = slices.Delete(o.keys, i, i+1)
	o.vals = slices.Delete(o.vals, i, i+1)
	if o.index != nil {
		delete(o.index, key)
		for k := i; k < len(o.keys); k++ {
			o.index[o.keys[k]] = k
		}
	}
	return true
}

// Keys returns the keys in order, in a slice of the caller's own.
func (o *Object) Keys() []string {
	if o == nil {
		return nil
	}
	return slices.Clone(o.keys)
}

// Clone returns a copy that shares nothing that can be changed; nil for nil.
func (o *Object) Clone() *Object {
	if o == nil {
		return nil
	}
	c := &Object{keys: slices.Clone(o.keys), vals: slices.Clone(o.vals), index: maps.Clone(o.index)}
	for i, v := range c.vals {
		c.vals[i] = v.clone()
	}
	return c
}

// find returns the position of key, or -1.
func (o *Object) find(key string) int {
	switch {
	case o == nil:
		return -1
	case o.index == nil:
		return slices.Index(o.keys, key)
	}
	if i, ok := o.index[key]; ok {
		return i
	}
	return -1
}
