package ndfile

// Traits are the methods of a [Format] that say what it is called and can do, for
// formats to embed.
type Traits struct {
	name       string
	extensions []string
	caps       Caps
}

// NewTraits makes the traits of a format. Extensions have the dot and are in lower
// case; the usual one comes first.
func NewTraits(name string, caps Caps, extensions ...string) Traits {
	return Traits{name: name, extensions: extensions, caps: caps}
}

// Name implements [Format].
func (t *Traits) Name() string { return t.name }

// Extensions implements [Format]. The caller must not change them.
func (t *Traits) Extensions() []string { return t.extensions }

// Caps implements [Format].
func (t *Traits) Caps() Caps { return t.caps }
