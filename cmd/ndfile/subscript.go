package main

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// subscript is what selects along one axis, as in NumPy: an index, which drops the
// axis, a slice, or "..." for all axes that the others leave.
type subscript struct {
	kind              subscriptKind
	start, stop, step int64 // of an index only start
	hasStart, hasStop bool
}

type subscriptKind uint8

const (
	slice subscriptKind = iota
	index
	ellipsis
)

var errSubscript = errors.New("not a subscript")

// cutIndex splits "x[0:3, -1]" into the text before the brackets and what they
// say. Text without brackets at its end is all rest. With an error rest is the
// text before the brackets all the same.
func cutIndex(arg string) (rest string, index []subscript, err *ndfile.Error) {
	open := strings.LastIndexByte(arg, '[')
	if open < 0 || !strings.HasSuffix(arg, "]") {
		return arg, nil, nil
	}
	text := arg[open+1 : len(arg)-1]
	list := []subscript{}
	ellipses := 0
	for _, word := range strings.Split(text, ",") {
		s, e := parseSubscript(strings.TrimSpace(word))
		if e != nil {
			return arg[:open], nil, usage("expected indices and slices as in [0:3, -1, ::2, ...], found [" + text + "]")
		}
		if s.kind == ellipsis {
			ellipses++
		}
		list = append(list, s)
	}
	if ellipses > 1 {
		return arg[:open], nil, usage("only one ... can be in [" + text + "]")
	}
	return arg[:open], list, nil
}

// parseSubscript reads "3", "1:5", "::-1" or "...".
func parseSubscript(word string) (s subscript, err error) {
	if word == "..." {
		return subscript{kind: ellipsis}, nil
	}
	parts := strings.Split(word, ":")
	if len(parts) > 3 {
		return s, errSubscript
	}
	var v [3]int64
	var has [3]bool
	for i, p := range parts {
		if p = strings.TrimSpace(p); p == "" {
			continue
		}
		if v[i], err = strconv.ParseInt(p, 10, 64); err != nil || v[i] == math.MinInt64 {
			return s, errSubscript
		}
		has[i] = true
	}
	s = subscript{start: v[0], stop: v[1], step: 1, hasStart: has[0], hasStop: has[1]}
	if len(parts) == 1 {
		s.kind = index
		if !has[0] {
			return s, errSubscript
		}
	}
	if has[2] {
		s.step = v[2]
	}
	if s.step == 0 {
		return s, errSubscript
	}
	return s, nil
}

// along is a selection along one axis: count elements from start on, step apart.
type along struct {
	start, count, step int64
	drop               bool // an index: the axis goes
}

// on applies the subscript to an axis, with Python's rules: negative numbers count
// from the end, slices are cut to what there is, indices must fit.
func (s *subscript) on(extent int64) (along, error) {
	if s.kind == index {
		at := s.start
		if at < 0 {
			at += extent
		}
		if at < 0 || at >= extent {
			return along{}, usage("index " + strconv.FormatInt(s.start, 10) + " is outside an axis of " + strconv.FormatInt(extent, 10))
		}
		return along{start: at, count: 1, step: 1, drop: true}, nil
	}
	// The range of valid places: a slice that runs down may stop before the first.
	low, high := int64(0), extent
	if s.step < 0 {
		low, high = -1, extent-1
	}
	place := func(v int64) int64 {
		if v < 0 {
			v += extent
		}
		return min(max(v, low), high)
	}
	start, stop := low, high
	if s.step < 0 {
		start, stop = high, low
	}
	if s.hasStart {
		start = place(s.start)
	}
	if s.hasStop {
		stop = place(s.stop)
	}
	switch {
	case s.step > 0 && start < stop:
		return along{start: start, count: (stop-start-1)/s.step + 1, step: s.step}, nil
	case s.step < 0 && start > stop:
		return along{start: start, count: (start-stop-1)/-s.step + 1, step: s.step}, nil
	}
	return along{step: 1}, nil
}

// resolve applies subscripts to a shape.
func resolve(list []subscript, shape []int64) ([]along, error) {
	given := len(list)
	for _, s := range list {
		if s.kind == ellipsis {
			given--
		}
	}
	if given > len(shape) {
		return nil, usage(strconv.Itoa(given) + " indices for an array of " + strconv.Itoa(len(shape)) + " axes")
	}
	sel := make([]along, 0, len(shape))
	all := func(n int) {
		for range n {
			sel = append(sel, along{count: shape[len(sel)], step: 1})
		}
	}
	for i := range list {
		if list[i].kind == ellipsis {
			all(len(shape) - given)
			continue
		}
		a, err := list[i].on(shape[len(sel)])
		if err != nil {
			return nil, err
		}
		sel = append(sel, a)
	}
	all(len(shape) - len(sel))
	return sel, nil
}
