# SPDX-License-Identifier: Apache-2.0
"""From JSON to dataclasses."""

import dataclasses
import typing
from typing import Any, Dict, Type, TypeVar, Union

from ._display import Display
from .errors import UnexpectedReply

T = TypeVar("T")

_hints: Dict[type, Dict[str, Any]] = {}


def _value(kind: Any, value: Any, where: str) -> Any:
    if kind is Display:
        return Display(value)
    if dataclasses.is_dataclass(kind):
        return decode(typing.cast(Type[Any], kind), value)
    origin = typing.get_origin(kind)
    if origin is Union:  # Optional
        return None if value is None else _value(typing.get_args(kind)[0], value, where)
    if origin is list:
        if not isinstance(value, list):
            raise UnexpectedReply(f"{where} is no list")
        item = typing.get_args(kind)[0]
        return [_value(item, each, where) for each in value]
    return value


def decode(kind: Type[T], reply: Any) -> T:
    """REPLY, an object, as an instance of the dataclass KIND."""
    if not isinstance(reply, dict):
        raise UnexpectedReply(f"an object was expected for {kind.__name__}, not {type(reply).__name__}")
    if kind not in _hints:
        _hints[kind] = typing.get_type_hints(kind)
    hints = _hints[kind]
    known: Dict[str, Any] = {
        name: _value(hints[name], value, f"{kind.__name__}.{name}")
        for name, value in reply.items()
        if name in hints and name != "raw"
    }
    if "raw" in hints:
        known["raw"] = reply
    try:
        return kind(**known)
    except TypeError as error:
        raise UnexpectedReply(f"a reply lacks something: {error}") from None
