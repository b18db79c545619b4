package formattest

import (
	"context"
	"fmt"
	"reflect"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// abilities are the interfaces of files and arrays. A method of one of them that
// gives an error answers ErrHandle once the file is closed.
var abilities = []reflect.Type{
	reflect.TypeFor[ndfile.File](), reflect.TypeFor[ndfile.Trailer](), reflect.TypeFor[ndfile.Flusher](),
	reflect.TypeFor[ndfile.Remover](), reflect.TypeFor[ndfile.RowResizer](), reflect.TypeFor[ndfile.Orderer](),
	reflect.TypeFor[ndfile.Array](), reflect.TypeFor[ndfile.Masked](), reflect.TypeFor[ndfile.Strings](),
	reflect.TypeFor[ndfile.Mapper](), reflect.TypeFor[ndfile.Chunked](), reflect.TypeFor[ndfile.Resizer](),
}

// checkClosed calls every method of files and arrays that are closed: the error is
// ErrHandle, whatever the arguments, and nothing comes back into being.
func checkClosed(s *suite) {
	path := s.path("f")
	for _, last := range []string{"Close", "Abort"} {
		end := func(f ndfile.File) error {
			if last == "Close" {
				return f.Close(ctx)
			}
			return f.Abort()
		}
		mem, c := ndfile.NewMem(), s.sample(5)
		f, err := s.create(mem, path, ndfile.WriteOptions{}, c.attrs)
		s.ok(err)
		var arrays []ndfile.Array
		for _, a := range c.arrays {
			dst, err := f.Add(ctx, a.name, a.spec())
			s.ok(err)
			s.ok(a.writeBox(dst, ndarray.Full(a.shape), layouts[0]))
			arrays = append(arrays, dst)
		}
		s.ok(end(f))
		before := s.tree(mem, "/")
		s.in("created, %s", last).answersClosed(f, arrays, c)
		s.in("created, %s, calls", last).sameTree(mem, before)

		s.ok(s.save(mem, path, c, ndfile.WriteOptions{}))
		before = s.tree(mem, "/")
		for _, read := range []bool{false, true} {
			s := s.in("read %v, %s", read, last)
			f, err := s.open(mem, path)
			s.ok(err)
			s.endAndCall(f, end, c, read)
		}
		if s.has(ndfile.CapUpdate) {
			s := s.in("changed, %s", last)
			f, err := s.update(mem, path)
			s.ok(err)
			s.endAndCall(f, end, c, true)
		}
		s.in("opened, %s, calls", last).sameTree(mem, before)
	}
}

// endAndCall ends an open file, whose arrays were read or not, and uses it.
func (s *suite) endAndCall(f ndfile.File, end func(ndfile.File) error, c *content, read bool) {
	s.tb.Helper()
	var arrays []ndfile.Array
	for _, a := range c.arrays {
		src, err := f.Array(a.name)
		s.ok(err)
		if read {
			_, err = readBox(src, ndarray.Full(a.shape), layouts[0])
			s.ok(err)
		}
		arrays = append(arrays, src)
	}
	s.ok(end(f))
	s.answersClosed(f, arrays, c)
}

// answersClosed calls a closed file and its arrays: with arguments that are in order,
// and with ones of no sense.
func (s *suite) answersClosed(f ndfile.File, arrays []ndfile.Array, c *content) {
	s.tb.Helper()
	s.eachClosed("File", f)
	for _, a := range c.arrays {
		_, err := f.Array(a.name)
		s.in("Array").fails(err, ndfile.ErrHandle)
	}
	late := c.arrays[len(c.arrays)-1].spec()
	_, err := f.Add(ctx, "late", late)
	s.in("Add").fails(err, ndfile.ErrHandle)
	for i, a := range arrays {
		s := s.in("array %q", c.arrays[i].name)
		s.eachClosed("Array", a)
		_, err := readBox(a, ndarray.Full(c.arrays[i].shape), layouts[0])
		s.in("ReadBox").fails(err, ndfile.ErrHandle)
		s.in("WriteBox").fails(c.arrays[i].writeBox(a, ndarray.Full(c.arrays[i].shape), layouts[0]), ndfile.ErrHandle)
	}
}

// eachClosed calls all methods of v that give an error, with zeros for arguments.
func (s *suite) eachClosed(kind string, v any) {
	s.tb.Helper()
	called := 0
	for _, ability := range abilities {
		if !reflect.TypeOf(v).Implements(ability) {
			continue
		}
		for i := range ability.NumMethod() {
			m := ability.Method(i)
			if n := m.Type.NumOut(); n == 0 || m.Type.Out(n-1) != reflect.TypeFor[error]() {
				continue
			}
			called++
			s := s.in("%s.%s", kind, m.Name)
			s.fails(s.calm(m.Name, func() error { return callZero(reflect.ValueOf(v).MethodByName(m.Name)) }), ndfile.ErrHandle)
		}
	}
	if called < 2 {
		s.fatalf("%s: only %d methods were called", kind, called)
	}
}

// callZero calls a method with zeros, and gives its error.
func callZero(method reflect.Value) error {
	t := method.Type()
	args := make([]reflect.Value, t.NumIn())
	for i := range args {
		args[i] = reflect.Zero(t.In(i))
		if t.In(i) == reflect.TypeFor[context.Context]() {
			args[i] = reflect.ValueOf(ctx)
		}
	}
	out := method.Call(args)
	switch err := out[len(out)-1].Interface().(type) {
	case nil:
		return nil
	case error:
		return err
	default:
		return fmt.Errorf("%v", err)
	}
}
