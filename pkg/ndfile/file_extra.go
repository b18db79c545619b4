package ndfile

// FileExtra is a File with metadata of its own beyond arrays and attributes, in the
// format's terms: NetCDF's data model, say.
type FileExtra interface {
	// FileExtra are these metadata. CreateOptions.Extra of the same format takes
	// them.
	FileExtra() *Attrs
	// Peculiar lists what of it a format without a place for it loses.
	Peculiar() []Loss
}

// ExtraKeeper is a Format that can keep the metadata which arrays and files of other
// formats have in terms of their own, without a meaning.
type ExtraKeeper interface {
	// KeepExtra makes the Extra of an array that carries those of an array of the
	// format from, and of its file where file is not nil.
	KeepExtra(from string, file, array *Attrs) *Attrs
	// KeptExtra is the reverse of KeepExtra: what is there of the format to; nil where
	// there is nothing.
	KeptExtra(to string, extra *Attrs) (file, array *Attrs)
}
