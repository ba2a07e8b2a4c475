# SPDX-License-Identifier: Apache-2.0
"""What code displayed, and what some of the models can do."""

from __future__ import annotations

import base64
import dataclasses
import json
import pathlib
import typing
from typing import Any, Dict, List, Mapping, Optional, TypeVar, Union

from .errors import RunFailed

if typing.TYPE_CHECKING:
    from .models import Result

Json = Dict[str, Any]
R = TypeVar("R", bound="ResultMethods")

EXTENSIONS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/svg+xml": "svg",
    "image/gif": "gif",
    "image/webp": "webp",
}


@dataclasses.dataclass(frozen=True)
class Picture:
    """A picture that code showed."""

    mime: str
    data: bytes = dataclasses.field(repr=False)

    @property
    def extension(self) -> str:
        """What a file of its kind ends with: png, jpg, svg ..."""
        return EXTENSIONS.get(self.mime, "bin")

    def save(self, path: Union[str, pathlib.Path]) -> pathlib.Path:
        """Writes it to the file PATH, and returns that."""
        path = pathlib.Path(path)
        path.write_bytes(self.data)
        return path

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Dict[str, Any]:
        """A notebook shows it as the picture that it is."""
        if self.mime == "image/svg+xml":
            return {self.mime: self.data.decode()}
        return {self.mime: base64.b64encode(self.data).decode()}


@dataclasses.dataclass(frozen=True)
class Display:
    """What code displayed: the same thing in several forms, by MIME type. Pictures are in base64, but for SVG."""

    data: Mapping[str, Any]

    @property
    def text(self) -> str:
        """For models and terminals: a table as Markdown, else plain text."""
        for mime in ("text/markdown", "text/plain"):
            if mime in self.data:
                return str(self.data[mime])
        return ""

    @property
    def picture(self) -> Optional[Picture]:
        """The picture among its forms, if there is one."""
        for mime, value in self.data.items():
            if mime == "image/svg+xml" and isinstance(value, str):
                return Picture(mime, value.encode())
            if mime.startswith("image/") and isinstance(value, str):
                return Picture(mime, base64.b64decode(value))
        return None

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Dict[str, Any]:
        return dict(self.data)


class ResultMethods:
    """What a result can do."""

    outcome: str
    stdout: str
    value: Optional[Display]
    displays: List[Display]

    @property
    def ok(self) -> bool:
        """Whether the code ran to its end without an error."""
        return self.outcome == "ok"

    @property
    def text(self) -> Optional[str]:
        """The value of the last expression as plain text; without one, what was printed, less the last line end; None where neither
        is there."""
        if self.value is not None:
            return str(self.value.data.get("text/plain", self.value.text))
        return self.stdout[:-1] if self.stdout.endswith("\n") else self.stdout or None

    def for_model(self, max_chars: int = 10_000) -> str:
        """All that a model should know, as one text of at most MAX_CHARS characters (200 to 1048576): output, value, what was
        displayed, the error with its traceback and hint, what was refused, names of files, warnings. What is too long loses its middle."""
        from ._for_model import for_model

        return for_model(typing.cast("Result", self), max_chars)

    @property
    def pictures(self) -> List[Picture]:
        """All pictures that the code displayed."""
        found = (display.picture for display in self.displays)
        return [picture for picture in found if picture is not None]

    def save_pictures(self, directory: Union[str, pathlib.Path] = ".") -> List[pathlib.Path]:
        """Writes them to picture-1.png and so on, and returns the paths."""
        return [
            picture.save(pathlib.Path(directory) / f"picture-{number}.{picture.extension}")
            for number, picture in enumerate(self.pictures, 1)
        ]

    def check(self: R) -> R:
        """The result itself, or RunFailed where the outcome is another than ok."""
        if not self.ok:
            raise RunFailed(typing.cast("Result", self))
        return self


class RunStateMethods:
    """What the state of a run can do."""

    state: str

    @property
    def ended(self) -> bool:
        """Whether it runs no more."""
        return self.state == "ended"


class ToolReplyMethods:
    """What the reply of a tool can do."""

    reply: Json

    @property
    def approval_id(self) -> Optional[str]:
        """What somebody has to say yes to before the tool runs."""
        value = self.reply.get("approval_id")
        return value if isinstance(value, str) else None

    @property
    def text(self) -> str:
        """The whole reply as JSON."""
        return json.dumps(self.reply, ensure_ascii=False)

    def for_model(self, max_chars: int = 10_000) -> str:
        """The reply as JSON of at most MAX_CHARS characters (200 to 1048576), without the bytes of pictures. Long texts in it lose
        their middle."""
        from ._for_model import reply_for_model

        return reply_for_model(self.reply, max_chars)
