package ndfile

// Traits are what a format is called and can do: the first methods of a [Format],
// which embeds them. They must not change.
type Traits struct {
	// ID is the format's name.
	ID string
	// Endings are the extensions, with the dot, in lower case; the usual one
	// first.
	Endings []string
	// Can is what the format can do.
	Can Caps
}

// Name is ID.
func (t *Traits) Name() string { return t.ID }

// Extensions are Endings. The caller must not change them.
func (t *Traits) Extensions() []string { return t.Endings }

// Caps is Can.
func (t *Traits) Caps() Caps { return t.Can }
