// Package zipstore reads the members of a zip file as the values of a store: what
// zarr-python calls a ZipStore, "x.zarr.zip".
//
// The zip file itself lies in a store, which may be anything that can be read. Its
// directory is read when it is opened, by one request or two, and is bounded; after
// that each value is one request. Of stored members any range is read, of deflated
// ones always all. What is read whole is checked against the CRC-32 of the directory.
//
// Of several members of one name the last counts, as programs add a member again to
// change it. Names that are no keys, and folders, are left out. Zip64 is read;
// encrypted members, other methods than stored and deflated, and files in several
// volumes are errors.ErrUnsupported.
package zipstore
