// Package store is where the bytes of files and chunks lie: values under keys, read
// by ranges. A folder on a disk is a store, and so are a zip file, a web server, a
// bucket in the cloud and a map in memory.
//
// The interfaces are small, one an ability. A store that can be read implements
// [Reader], which is one method, and that is enough to open arrays in it
// (ndfile.OpenStore). What else it can do it tells by implementing more:
//
//   - [RangeReader]: several ranges of a value in one request, or in few.
//   - [Holder]: values that stay open between reads, as files do.
//   - [Lister]: the names below a folder.
//   - [Writer]: whole values, put and deleted, with conditions.
//
// [Hold], [Open], [ReadFull], [ReadParts] and [ReadAll] use what there is of these
// and do the rest themselves: they are what code that reads calls, so that a store
// need not repeat it.
//
// # Keys
//
// A key is names with "/" between them: "temp/c/0/1". It begins and ends with no
// slash, and no name is empty, "." or ".." ([ValidKey]). What stands before a slash
// is a folder; folders exist as far as there are keys in them. Stores refuse other
// keys as they refuse keys without a value.
//
// # Errors
//
// A key without a value is an error that is [fs.ErrNotExist]. Errors of the store
// itself are whatever it likes, with the key in their text; the caller's deadline
// comes as the error of its context. [ErrCondition], [ErrChanged], [ErrCorrupt] and
// [LimitError] are this package's own, and what a store cannot do is
// errors.ErrUnsupported.
//
// Package disk is the store of a folder, zipstore that of a zip file. Package storetest has the tests that every store should pass.
package store
