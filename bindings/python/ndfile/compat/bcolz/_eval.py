"""Expressions over carrays, ctables and NumPy arrays, block by block."""

from __future__ import annotations

import ast
import builtins
import sys
import types
from typing import Any

import numpy as np

from ._params import defaults

_BLOCK = 1 << 21  # bytes

#: What expressions may call: NumPy's functions by the names that numexpr has, and NumPy's own.
FUNCTIONS = {
    **{
        name: getattr(np, name)
        for name in (
            "where sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh arctanh log log10 "
            "log1p log2 exp expm1 sqrt abs conj real imag floor ceil isnan isfinite isinf minimum maximum"
        ).split()
    },
    "complex": lambda re, im: re + 1j * np.asarray(im),
    "sum": lambda rows: np.sum(rows, axis=0),
    "prod": lambda rows: np.prod(rows, axis=0),
    "contains": lambda texts, part: np.char.find(texts, part) >= 0,
}
#: The same of NumPy, as ``np.sin``.
NUMPY = types.SimpleNamespace(
    **{n: f for n, f in vars(np).items() if isinstance(f, np.ufunc)}, where=np.where
)
_NODES = (
    ast.Expression, ast.Name, ast.Load, ast.Constant, ast.Tuple, ast.List,
    ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call,
    ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip


def parse(expression: str) -> tuple[Any, list[str]]:
    """Compile an expression and list the names in it; refuse what is more than an expression."""
    if not isinstance(expression, str):
        raise ValueError(f"expected an expression as text, found {type(expression).__name__}")
    tree = ast.parse(expression.strip(), "<expression>", "eval")
    called: set[ast.AST] = set()
    for node in ast.walk(tree):
        if not isinstance(node, _NODES) and node not in called:
            raise NotImplementedError(
                f"{expression!r}: {type(node).__name__} is not supported in an expression"
            )
        if isinstance(node, ast.Call):
            if node.keywords or not _callable(node.func):
                known = ", ".join(sorted(FUNCTIONS))
                raise NameError(f"{expression!r}: only {known} and np's universal functions can be called")
            called.update(ast.walk(node.func))
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and n not in called}
    return compile(tree, "<expression>", "eval"), sorted(names)


def _callable(func: ast.expr) -> bool:
    if isinstance(func, ast.Attribute):
        return (
            isinstance(func.value, ast.Name)
            and func.value.id in ("np", "numpy")
            and hasattr(NUMPY, func.attr)
        )
    return isinstance(func, ast.Name) and func.id in FUNCTIONS


def caller(depth: int) -> dict[str, Any]:
    """Give the variables of a function that called."""
    frame = sys._getframe(depth + 1)
    return {**frame.f_globals, **frame.f_locals}


def _is_sequence(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes))


def eval(
    expression: str,
    vm: str | None = None,
    out_flavor: str | None = None,
    user_dict: dict[str, Any] | None = None,
    blen: int | None = None,
    **kwargs: Any,
) -> Any:
    """Evaluate an expression over arrays of one length.

    Parameters
    ----------
    expression : str
        Operators, constants, names, and calls of mathematical functions. Names are those of ``user_dict``,
        then those of the function that calls.
    vm : optional
        Taken and not used.
    out_flavor : {"bcolz", "carray", "numpy"}, optional
        What an array comes as. Default: ``defaults.out_flavor``.
    user_dict : dict, optional
        Variables.
    blen : int, optional
        Rows of a block.
    **kwargs
        As for `carray`, of the result.

    Raises
    ------
    NameError
        A name that is no variable.
    ValueError
        Arrays of different lengths, or of no dtype.
    """
    vm = defaults.vm if vm is None else vm
    if vm not in ("numexpr", "python", "dask"):
        raise ValueError("`vm` must be either 'numexpr', 'python' or 'dask'")
    return evaluate(expression, {**caller(1), **(user_dict or {})}, out_flavor, blen, **kwargs)


def evaluate(
    expression: str, names: dict[str, Any], out_flavor: str | None, blen: int | None = None, **kwargs: Any
) -> Any:
    """Do what `eval` does, with all variables in one dict."""
    from ._carray import carray

    code, used = parse(expression)
    try:
        variables = {name: names[name] for name in used}
    except KeyError as e:
        raise NameError(f"variable name ``{e.args[0]}`` not found") from None
    arrays = {}
    for name, value in variables.items():
        if not _is_sequence(value) or not getattr(value, "shape", (0,)):
            continue
        if not hasattr(value, "dtype"):
            raise ValueError("only numpy/carray sequences supported")
        arrays[name] = value
    lengths = {len(value) for value in arrays.values()}
    if len(lengths) > 1:
        raise ValueError("arrays must have the same length")
    scope = {"__builtins__": {}, **FUNCTIONS, "np": NUMPY, "numpy": NUMPY}
    if not arrays:
        return builtins.eval(code, scope, variables)
    (length,) = lengths
    rowsize = sum(int(np.prod(v.shape[1:])) * v.dtype.itemsize for v in arrays.values())
    blen = blen or max(1, _BLOCK // max(1, rowsize))
    flavor = defaults.out_flavor if out_flavor is None else out_flavor
    ndim = max(len(v.shape) for v in arrays.values())
    result: Any = None
    for i in range(0, max(length, 1), blen):
        block = {**variables, **{name: v[i : i + blen] for name, v in arrays.items()}}
        part = np.asarray(builtins.eval(code, scope, block))
        if part.ndim < ndim:  # a sum
            result = part if result is None else result + part
        elif flavor == "numpy":
            if result is None:
                result = np.empty((length, *part.shape[1:]), part.dtype)
            result[i : i + blen] = part
        elif result is None:
            kwargs.setdefault("expectedlen", length)
            result = carray(part, **kwargs)
        else:
            result.append(part)
    if isinstance(result, carray):
        result.flush()
        return result
    return result[()] if result.ndim == 0 else result
