"""Edits of source code by what it says, not by how it is written down: bugs are put in with them."""

from __future__ import annotations

import ast
from textwrap import dedent


def edited(source, old, new):
    """`source`, with `new` in the one place that says `old`.

    Both are Python, an expression or statements. Layout, comments and what stands around them do not matter. `...` in
    `old` is anything: an expression, or any number of arguments, operands or statements. `...` in `new` is the same
    again; where there are several, they follow in the same order. An empty `new` takes statements away.
    """
    tree = ast.parse(source)
    pattern, other = (ast.parse(dedent(text)).body for text in (old, new or "pass"))
    if isinstance(pattern[0], ast.Expr) and isinstance(other[0], ast.Expr):
        pattern, other = [pattern[0].value], [other[0].value]
        places = [(holder, key, [holder[key]]) for holder, key in _places(tree)]
    else:
        starts = [(holder, key) for holder, key in _places(tree) if isinstance(holder, list)]
        runs = [(holder, slice(start, start + len(pattern))) for holder, start in starts]
        places = [(holder, run, holder[run]) for holder, run in runs]
    found = [(*place, kept) for *place, there in places if (kept := _match(pattern, there)) is not None]
    assert len(found) == 1, f"the source says this {len(found)} times, and should once: {old}"
    holder, key, kept = found[0]
    put = _filled(other, iter(kept))
    holder[key] = put if isinstance(key, slice) else put[0]
    return ast.unparse(tree)


def _places(node):
    """Where a node holds others, and those hold others: a dict or list, and a key."""
    for name, value in ast.iter_fields(node):
        holder, keys = (value, range(len(value))) if isinstance(value, list) else (vars(node), [name])
        for key in keys:
            if isinstance(holder[key], ast.AST):
                yield holder, key
                yield from _places(holder[key])


def _is_dots(node):
    return getattr(node, "value", None) is ... or (isinstance(node, ast.Expr) and _is_dots(node.value))


def _match(pattern, found):
    """What the dots in a pattern stand for, in order; None if it is not what was found."""
    if _is_dots(pattern):
        return [found]
    if type(pattern) is not type(found):
        return None
    if isinstance(pattern, list):
        return _match_list(pattern, found)
    if not isinstance(pattern, ast.AST):
        return [] if pattern == found else None
    kept = []
    for name in [name for name in pattern._fields if name != "ctx"]:
        part = _match(getattr(pattern, name), getattr(found, name))
        if part is None:
            return None
        kept += part
    return kept


def _match_list(pattern, found):
    if not pattern:
        return None if found else []
    for n in range(len(found) + 1) if _is_dots(pattern[0]) else [1]:
        first = [found[:n]] if _is_dots(pattern[0]) else _match(pattern[0], found[0]) if found else None
        rest = None if first is None else _match_list(pattern[1:], found[n:])
        if rest is not None:
            return first + rest
    return None


def _filled(nodes, kept):
    """Nodes with what was kept in the place of dots."""
    out = []
    for node in nodes:
        if _is_dots(node):
            again = next(kept)
            out += again if isinstance(again, list) else [again]
        else:
            for name, value in ast.iter_fields(node):
                if isinstance(value, list):
                    setattr(node, name, _filled(value, kept))
                elif isinstance(value, ast.AST):
                    (part,) = _filled([value], kept)
                    setattr(node, name, part)
            out.append(node)
    return out
