package ndfile

import (
	"context"
	"slices"
	"strconv"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
)

// fileExtra plans the metadata that the file has in its format's own terms.
func (p *plan) fileExtra(src File, names []string) error {
	own, ok := src.(FileExtra)
	var extra *Attrs
	if ok {
		extra = own.FileExtra()
	}
	switch keeper, keeps := p.to.(ExtraKeeper); {
	case extra != nil && p.from.Name() == p.to.Name():
		p.create.Extra = extra
	case extra != nil && keeps && len(names) > 0:
		p.guest, p.keeper = extra.Clone(), keeper
		p.guest.Set(orderKey, listOf(names))
	case ok:
		p.losses = append(p.losses, own.Peculiar()...)
	}
	keeper, kept := p.from.(ExtraKeeper)
	if ok || !kept || p.from.Name() == p.to.Name() {
		return nil
	}
	p.host = keeper
	for _, name := range names {
		a, err := src.Array(name)
		if err != nil {
			return err
		}
		if file, _ := keeper.KeptExtra(p.to.Name(), a.Spec().Extra); file != nil {
			order, _ := file.Get(orderKey)
			p.create.Extra = file.Clone()
			p.create.Extra.Delete(orderKey)
			restoreOrder(names, order)
			p.restoreGroups()
		}
	}
	return nil
}

// unwritten names elements that were never written, and would be data elsewhere.
func (p *plan) unwritten(ctx context.Context, src File, names []string) error {
	u, ok := src.(Unwritten)
	if !ok || p.from.Name() == p.to.Name() {
		return nil
	}
	for _, name := range names {
		n, err := u.Unwritten(ctx, name)
		if err != nil {
			return err
		}
		if n > 0 {
			p.lose(name, "default fill", strconv.FormatInt(n, 10)+" elements have the value that "+p.from.Name()+
				" fills what was never written with: they become data, unless default_fill takes them for missing")
		}
	}
	return nil
}

// orderKey is the member of a file's kept metadata that lists its arrays, which the
// destination may sort.
const orderKey = "order"

// groupsKey is the member that has the attributes of groups by path.
const groupsKey = "groups"

// keepGroup puts a group among the metadata that the destination keeps.
func (p *plan) keepGroup(name string, attrs *Attrs) {
	v, _ := p.guest.Get(groupsKey)
	groups := v.Object()
	if groups == nil {
		groups = NewAttrs()
	}
	groups.Set(name, pyjson.ObjectValue(attrs))
	p.guest.Set(groupsKey, pyjson.ObjectValue(groups))
}

// restoreGroups makes groups of those that the source has kept.
func (p *plan) restoreGroups() {
	v, _ := p.create.Extra.Get(groupsKey)
	p.create.Extra.Delete(groupsKey)
	groups := v.Object()
	for i := range groups.Len() {
		if name, v := groups.At(i); v.Object() != nil && p.to.Caps()&CapGroups != 0 {
			p.groups = append(p.groups, groupAttrs{name, v.Object()})
		}
	}
}

// askGroups adds the groups to the dry file; attributes that one cannot have are lost.
func (p *plan) askGroups(ctx context.Context, dry File) {
	t, ok := dry.(Tree)
	if !ok {
		return
	}
	kept := p.groups[:0]
	for _, g := range p.groups {
		err := t.AddGroup(ctx, g.name, g.attrs)
		if err != nil && g.attrs.Len() > 0 {
			if t.AddGroup(ctx, g.name, nil) == nil {
				p.lose(g.name, "attributes", reason(err))
				g.attrs, err = NewAttrs(), nil
			}
		}
		if err != nil {
			p.lose(g.name, "group", reason(err))
			continue
		}
		kept = append(kept, g)
	}
	p.groups = kept
}

func listOf(names []string) Value {
	items := make([]Value, len(names))
	for i, name := range names {
		items[i] = StringValue(name)
	}
	return pyjson.List(items...)
}

// restoreOrder sorts names as they are listed; others come last.
func restoreOrder(names []string, order Value) {
	place := map[string]int{}
	for i, v := range order.Items() {
		if name, ok := v.Str(); ok {
			place[name] = i - len(order.Items())
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return place[a] - place[b] })
}

// extra is what the destination gets of an array's metadata in the terms of its
// format: all if it is of the same, what it keeps, or what the source kept of it.
func (p *plan) extra(own *Attrs) *Attrs {
	switch {
	case p.from.Name() == p.to.Name():
		return own
	case p.keeper != nil:
		file := p.guest
		p.guest = nil // with the first array
		return p.keeper.KeepExtra(p.from.Name(), file, own)
	case p.host != nil:
		_, kept := p.host.KeptExtra(p.to.Name(), own)
		return kept
	}
	return nil
}
