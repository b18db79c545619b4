#!/usr/bin/env python3
"""Makes the files beside it with ds-format 2.0.1, which wrote no version line.

    pip install ds-format==2.0.1 'numpy<1.24' 'netCDF4<1.6.5'
    python generate.py
"""
import collections, collections.abc, os
for n in ('Mapping', 'Iterable'):  # 2.0.1 is older than Python 3.10
    setattr(collections, n, getattr(collections.abc, n))
import numpy as np, ds_format as ds

HERE = os.path.dirname(os.path.abspath(__file__))
def write(name, d): ds.write(os.path.join(HERE, name + '.ds'), d)

meta = lambda d: dict(d, **{'.': {k: {'.dims': ['%s%d' % (k, i) for i in range(np.ndim(v))]} for k, v in d.items()}})
write('plain', meta({'b': np.arange(11) % 3 == 0, 'f4': np.array([0.5, -2], 'f4'), 'i2': np.array([[1, 2], [-3, 4]], '>i2'), 'scalar': np.float64(2.5), 'u1': np.array([255], 'u1')}))
write('bytes', meta({'a': np.array([b'ab', b'', b'c\xff']), 'n': np.arange(3, dtype='i4')}))       # the offset of n is wrong
write('unicode', meta({'a': np.array(['\u017elu\u0165', '', '\U0001f600x']), 'n': np.arange(3, dtype='i4')}))  # lengths are characters
write('one_masked', meta({'m': np.ma.array(np.arange(10, dtype='i2'), mask=np.arange(10) % 4 == 1)}))
write('two_masked', meta({'p': np.ma.array(np.arange(4, dtype='i2'), mask=[1, 0, 0, 0]), 'q': np.ma.array(np.arange(4, dtype='i2'), mask=[0, 0, 1, 0])}))
