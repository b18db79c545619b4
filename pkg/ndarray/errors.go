package ndarray

import "errors"

// The causes of failure, for errors.Is. Every error of this package wraps one.
var (
	ErrShape    = errors.New("bad shape")     // rank or extents do not fit
	ErrDType    = errors.New("bad dtype")     // unknown element type, or no exact conversion
	ErrBounds   = errors.New("out of bounds") // a box or buffer reaches outside
	ErrOverflow = errors.New("too large")     // a size exceeds what can be counted or held
)
