package ndfile

import (
	"context"

	"github.com/ndfile/ndfile/pkg/store"
)

// OpenStore is Open of a file or folder in a store: key is its key, "" the whole store.
// Anything with a Get will do ([store.Reader]); what a store can do beside makes it
// faster, and groups without consolidated metadata need a [store.Lister]. It is for
// reading: Mode must be ReadOnly. opt.FS does not count. The contexts of calls reach the
// store. Reading a chunk is one request; opening is one for each document, which is one
// or two where opt.Format is given, and some more to find out by content.
func OpenStore(ctx context.Context, formats []Format, r store.Reader, key string, opt OpenOptions) (File, error) {
	if key == "" {
		key = "."
	}
	opt.FS = OfStore(r)
	return Open(ctx, formats, key, opt)
}
