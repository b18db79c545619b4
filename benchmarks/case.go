package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// A testCase is what CASE says: DTYPE:SHAPE[*VARIABLES][/CHUNK].
type testCase struct {
	dtype     ndarray.DType
	shape     []int64
	variables int
	chunk     int64 // 0: not in chunks
	data      []byte
}

// typestrings are the dtypes of cases, by NumPy's names.
var typestrings = map[string]string{"int32": "<i4", "uint32": "<u4", "int64": "<i8", "float64": "<f8"}

// parseCase reads CASE and makes the data: integers count up, floats are ones.
func parseCase(text string) (*testCase, error) {
	c := &testCase{variables: 1}
	dtype, rest, ok := strings.Cut(text, ":")
	if !ok || typestrings[dtype] == "" {
		return nil, fmt.Errorf("case %q: unknown dtype", text)
	}
	c.dtype = ndarray.MustParse(typestrings[dtype])
	var err error
	if rest, chunk, ok := strings.Cut(rest, "/"); ok {
		if c.chunk, err = strconv.ParseInt(chunk, 10, 64); err != nil {
			return nil, fmt.Errorf("case %q: %w", text, err)
		}
		return c, c.parseShape(rest)
	}
	return c, c.parseShape(rest)
}

func (c *testCase) parseShape(text string) (err error) {
	if shape, variables, ok := strings.Cut(text, "*"); ok {
		if c.variables, err = strconv.Atoi(variables); err != nil {
			return err
		}
		text = shape
	}
	for axis := range strings.SplitSeq(text, "x") {
		n, err := strconv.ParseInt(axis, 10, 64)
		if err != nil {
			return err
		}
		c.shape = append(c.shape, n)
	}
	count, err := ndarray.Count(c.shape)
	if err != nil {
		return err
	}
	c.data = make([]byte, int(count)*c.dtype.Size)
	for i := range int(count) {
		switch {
		case c.dtype.Kind == ndarray.Float:
			binary.LittleEndian.PutUint64(c.data[8*i:], math.Float64bits(1))
		case c.dtype.Size == 8:
			binary.LittleEndian.PutUint64(c.data[8*i:], uint64(i))
		default:
			binary.LittleEndian.PutUint32(c.data[4*i:], uint32(i))
		}
	}
	return nil
}

// buffer is the data as an array.
func (c *testCase) buffer() ndarray.Buffer {
	return ndarray.Buffer{DType: c.dtype, Shape: c.shape, Data: c.data}
}

// names gives the names of the variables.
func (c *testCase) names() []string {
	if c.variables == 1 {
		return []string{"x"}
	}
	names := make([]string, c.variables)
	for i := range names {
		names[i] = fmt.Sprintf("v%05d", i)
	}
	return names
}
