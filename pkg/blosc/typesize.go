package blosc

// BcolzTypeSize is the Params.TypeSize that bcolz needs in chunks of a NumPy
// dtype: kind is its kind (b i u f c S U V M m), itemSize its bytes. It reads
// slices wrongly where the header has another. Strings are bytes, Unicode
// strings have 4 to a character, and raw data of more than MaxTypeSize bytes
// have 1. (Rule of the reference implementation. Early zarr has no rule of its
// own: itemSize, which Encode stores as 1 above MaxTypeSize.)
//
// Errors: ErrParams for other items longer than MaxTypeSize, which bcolz
// refuses too, and for itemSize < 1.
func BcolzTypeSize(kind byte, itemSize int) (int, error) {
	switch {
	case itemSize < 1:
	case kind == 'S':
		return 1, nil
	case kind == 'U':
		return 4, nil
	case itemSize <= MaxTypeSize:
		return itemSize, nil
	case kind == 'V':
		return 1, nil
	}
	return 0, errorf(ErrParams, "items of %d bytes of kind %q", itemSize, kind)
}
