//go:build ndfpanic

package codec

// The toy codec "invert" flips all bits: a codec in one file, for tests and for
// docs/adding-a-format.md. Libraries that are shipped do not have it.
var _ = define(Definition{Name: "invert", ID: "invert", kind: bytewise, new: func(*conf) (Codec, error) { return invert{}, nil }})

type invert struct{}

func (invert) Config(Version) (*Object, error) { return members(), nil }

func (invert) Bind(in Form) (Stage, Form, error) { return invert{}, opaque(in.Size, in.Exact), nil }

func (invert) Encode(dst *Buffer, src []byte) error {
	out, err := dst.Extend(len(src))
	if err != nil {
		return err
	}
	for i, b := range src {
		out[i] = ^b
	}
	return nil
}

func (i invert) Decode(dst *Buffer, src []byte, limit int64) error {
	if int64(len(src)) > limit {
		return corrupt("invert", "%d bytes, expected at most %d", len(src), limit)
	}
	return i.Encode(dst, src)
}
