package blosc

import "github.com/klauspost/compress/snappy"

func snappyDecode(_ *state, dst, src []byte) bool {
	if n, err := snappy.DecodedLen(src); err != nil || n != len(dst) {
		return false
	}
	_, err := snappy.Decode(dst, src)
	return err == nil
}

func snappyEncode(st *state, dst, src []byte, _ int) int {
	out := dst
	if bound := snappy.MaxEncodedLen(len(src)); bound > len(dst) {
		if bound < 0 {
			return 0
		}
		out = st.stream.sized(bound)
	}
	n := len(snappy.Encode(out[:cap(out)], src))
	if n > len(dst) {
		return 0
	}
	copy(dst, out[:n])
	return n
}
