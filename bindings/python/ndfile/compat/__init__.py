"""The APIs of the packages that invented the formats, on ndfile, for programs that were written for them.

`ndfile.compat.bcolz` is bcolz 1.x. A program that says ``import bcolz`` runs unchanged after
``ndfile.compat.bcolz.install()``. `ndfile.compat.zarr04` is zarr release 0.4, `ndfile.compat.ra` is ra.py.
"""
