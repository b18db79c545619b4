#!/usr/bin/env python3
"""Makes repaired/, more files that ds-format 5.0.2 writes with wrong offsets, and
rewritten.ds.

    pip install ds-format==5.0.2 netCDF4 numpy
    python more.py

Uses the functions of generate.py beside it.
"""
import os
HERE = os.path.dirname(os.path.abspath(__file__))
text = open(os.path.join(HERE, 'generate.py')).read()
exec(text[:text.index('# ---------------------------------------------------------------- valid')])
OUT = HERE
ob = lambda *v: np.array(v, object)
tricky = [b"it's", b'say "hi"', b'both \' and "', b"''''", b'""', b'\\x\t\n\r', b'\x00\x1f\x7f\x80\xff ~', b'', b'plain']
written('quotes', {'s': ob(*tricky), 't': np.arange(4)*1000, 'u': np.array(['a', '\u017e'])}, sub='repaired', packed=True)
written('several', {'a': np.arange(3, dtype='>i2'), 'b': ob(b'x', b"'"), 'c': np.ma.array(np.arange(9.), mask=np.arange(9) % 2 == 0), 'd': ob(b'\xff\xfe', b''),
    'e': np.arange(11) % 3 == 0, 'f': np.ma.array(ob('p', '\u03c0', ''), mask=[0, 0, 1]), 'g': np.arange(2), 'h': ob('last', 'one')}, sub='repaired', packed=True)
def masked_bytes(name, present, mask):
    """Masked byte strings: ds-format calls them unicode, and counts their repr."""
    p = put('repaired', name, b'')
    n = np.arange(5, dtype='i4')
    ds.write(p, {'m': np.ma.array(ob(*present), mask=mask), 'n': n})
    exp = decode(open(p, 'rb').read(), packed=True)
    check(exp, {'m': np.ma.array(ob(*[x.decode() for x in present]), mask=mask), 'n': n})
    doc = {'made_by': 'written by ds-format %s' % VER, 'note': 'byte strings', 'reference': reference(p, exp), 'accept': SHIFT}
    doc.update(exp)
    side(p, doc)
masked_bytes('masked_bytes', [b'ab', b"c'd", b'"', 'z\u017e'.encode()], [0, 1, 0, 0])
written('empty_last', {'s': ob(b'abc'), 't': np.arange(2), 'z': np.zeros((0, 2))}, sub='repaired', packed=True)
written('two_axes', {'s': np.array([[b'ab', b'c'], [b'', b"q'"]], object), 't': None, 'u': np.ma.array(np.array([['a', 'b'], ['c', 'd']]), mask=[[1, 0], [0, 1]]), 'v': np.array([True] * 5), 'w': np.float32(2.5)},
    sub='repaired', packed=True)

# A file read, changed and written again: keys keep their places, new ones come last.
d = ds.read(os.path.join(HERE, 'valid', 'attrs.ds'))
m = d['.']['x']
m['units'] = 'm'
del m['big']
m['new'] = [1]
m['\\.dot2'] = 'x'
d['x'] = np.array([[0.5], [1]], '>f4')
m['.dims'] = ['t', 'u']
d['.']['.']['title'] = 'other'
ds.write(os.path.join(HERE, 'rewritten.ds'), d)
