package pyjson

import (
	"slices"
	"strings"
)

// AppendIndent appends v as json.dumps(v, indent=indent, sort_keys=sorted) writes
// it: one item or member a line, indent blanks deeper than what it is in, without
// a newline at the end. Keys are sorted by their code points. Otherwise it is
// [Append].
func AppendIndent(dst []byte, v Value, indent int, sorted bool) []byte {
	return appendIndent(dst, v, indent, sorted, 0)
}

// appendIndent is AppendIndent at a number of blanks from the left.
func appendIndent(dst []byte, v Value, indent int, sorted bool, left int) []byte {
	if v.node == nil || len(v.node.vals) == 0 {
		return Append(dst, v)
	}
	begin, end := byte('['), byte(']')
	if v.kind == KindObject {
		begin, end = '{', '}'
	}
	var order []int // of members; nil: as they are
	if sorted && v.kind == KindObject {
		order = sortedOrder(v.node.keys)
	}
	dst = append(dst, begin)
	for i := range v.node.vals {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendLine(dst, left+indent)
		if order != nil {
			i = order[i]
		}
		if v.kind == KindObject {
			dst = append(AppendString(dst, v.node.keys[i]), ": "...)
		}
		dst = appendIndent(dst, v.node.vals[i], indent, sorted, left+indent)
	}
	return append(appendLine(dst, left), end)
}

// sortedOrder gives the positions of keys in the order of the keys. The order of
// bytes is that of code points, also in WTF-8.
func sortedOrder(keys []string) []int {
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(keys[a], keys[b]) })
	return order
}

func appendLine(dst []byte, left int) []byte {
	dst = append(dst, '\n')
	for range left {
		dst = append(dst, ' ')
	}
	return dst
}
