"""JSON lines: an object a line. The text is a string, or a list of strings: words that are not cut any further."""

from __future__ import annotations

from typing import Any

from topoi._disk import strict_json
from topoi.readers._covariates import GROUP, TOPIC_LABELS
from topoi.readers._faults import fault
from topoi.readers._request import TEXT_COLUMNS, Documents, Request, joined, listed, short


def documents(request: Request) -> Documents:
    """Every object."""
    faults, name, parse = request.faults, request.name, strict_json.parse
    text_keys, answer_key, id_key = request.text, request.answer, request.id
    covariate_keys = list(request.covariates)
    may_lack = (TOPIC_LABELS, GROUP)
    needed_keys = [key for key, kind in request.covariates.items() if kind not in may_lack]
    groups_seen = {key: False for key, kind in request.covariates.items() if kind == GROUP}
    answer_seen = id_seen = False
    keys: list[str] = []
    answer = number_id = None
    covariates: list[Any] = []
    for number, line in request.source.lines(faults):
        if not line or line.isspace():
            continue
        try:
            record = parse(line)
        except ValueError as error:
            faults.document(name, _what_is_wrong(error, line), line=number, column=getattr(error, "colno", None))
            continue
        if type(record) is not dict:
            faults.document(name, _no_object(record), line=number)
            continue
        if "\\ud" in line or "\\uD" in line:
            record = _repaired(record)
        if not text_keys:
            found = next((key for key in TEXT_COLUMNS if key in record), None)
            if found is None:
                what = f"the object has no key 'text'; it has {listed(list(record))}. Name one: text=…."
                raise fault(name, what, line=number)
            text_keys = (found,)
        text = record.get(text_keys[0])
        problem = None
        if len(text_keys) > 1:
            text, problem = _several_texts(text_keys, record)
        elif type(text) is not str:
            problem = _bad_text(text, text_keys[0], record)
        if problem:
            faults.document(name, problem, line=number)
            continue
        if answer_key is not None:
            answer_seen = answer_seen or answer_key in record
            answer, problem = request.read_answer(record.get(answer_key))
            if problem:
                faults.document(name, f"{answer_key!r}: {problem}", line=number)
                continue
        if id_key is not None:
            id_seen = id_seen or id_key in record
            number_id = record.get(id_key)
            if not isinstance(number_id, str | int):
                faults.document(
                    name,
                    f"the id {id_key!r} is {short(number_id)}; it must be a string or a whole number.",
                    line=number,
                )
                continue
        keys = keys or list(record)
        if covariate_keys:
            covariates = [record.get(key) for key in covariate_keys]
            problem = _lacking(needed_keys, record) or request.wrong_covariate(covariates)
            if problem:
                faults.document(name, problem, line=number)
                continue
            groups_seen = {key: seen or key in record for key, seen in groups_seen.items()}
        yield text, answer, number_id, *covariates
    for key, seen in ((answer_key, answer_seen), (id_key, id_seen), *groups_seen.items()):
        if key is not None and keys and not seen:
            raise fault(name, f"no object has the key {key!r}; the first has {listed(keys)}.")


def _what_is_wrong(error: ValueError, line: str) -> str:
    if isinstance(error, strict_json.JSONError):
        return str(error)
    if line.strip() in ("[", "{"):
        return "the JSON goes on in the next line; each line must be an object: jq -c '.[]' makes them of an array."
    return f"this is not JSON: {getattr(error, 'msg', error)}. Each line must be one object."


def _no_object(record: Any) -> str:
    if isinstance(record, list):
        return "this is an array; each line must be an object: jq -c '.[]' makes them of an array."
    return f'this is {short(record)}; each line must be an object, as {{"text": "…"}}.'


def _several_texts(keys: tuple[str, ...], record: dict[str, Any]) -> tuple[Any, str | None]:
    """The texts of several keys, joined, and what is wrong with them, if anything; one of them may be missing."""
    there = {key: record[key] for key in keys if record.get(key) is not None}
    if not there:
        return None, f"the object has none of the keys {listed(keys)}; it has {listed(list(record))}."
    for key, text in there.items():
        if type(text) is not str and (problem := _bad_text(text, key, record)):
            return None, problem
    if len({type(text) for text in there.values()}) > 1:
        return None, f"of {listed(keys)} some are texts, others lists of words; make them one or the other."
    return joined(list(there.values())), None


def _bad_text(text: Any, key: str, record: dict[str, Any]) -> str | None:
    """What is wrong with a text that is not a string, unless it is a list of them."""
    if key not in record:
        return f"the object has no key {key!r}; it has {listed(list(record))}."
    if isinstance(text, list):
        bad = next((item for item in text if not isinstance(item, str)), None)
        return (
            None if bad is None and None not in text else f"{key!r} is a list with {short(bad)}; words must be strings."
        )
    what = "null" if text is None else f"{short(text)}, a {type(text).__name__}"
    return f"{key!r} is {what}; it must be a string, or a list of words."


def _lacking(keys: list[str], record: dict[str, Any]) -> str | None:
    """That an object lacks one of the keys, if so."""
    missing = next((key for key in keys if key not in record), None)
    return None if missing is None else f"the object has no key {missing!r}; it has {listed(list(record))}."


def _repaired(value: Any) -> Any:
    """`value` with halves of surrogate pairs, which no file can hold, replaced by U+FFFD."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_repaired(item) for item in value]
    if isinstance(value, dict):
        return {_repaired(key): _repaired(item) for key, item in value.items()}
    return value
