package store

import (
	"cmp"
	"slices"
)

// join groups parts that one request should read, in the order of where they lie.
// The parts given stay in their order.
func join(parts []Part) (groups [][]Part) {
	sorted := slices.Clone(parts)
	sorted = slices.DeleteFunc(sorted, func(p Part) bool { return len(p.Dst) == 0 })
	slices.SortStableFunc(sorted, func(a, b Part) int { return cmp.Compare(a.Off, b.Off) })
	first, end := 0, int64(0)
	for i, p := range sorted {
		to := p.Off + int64(len(p.Dst))
		if i > first && (p.Off-end > gapBytes || max(end, to)-sorted[first].Off > joinBytes) {
			groups = append(groups, sorted[first:i])
			first = i
		}
		if i == first {
			end = to
		}
		end = max(end, to)
	}
	if len(sorted) > 0 {
		groups = append(groups, sorted[first:])
	}
	return groups
}
