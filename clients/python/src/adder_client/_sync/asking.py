# SPDX-License-Identifier: Apache-2.0
# Made from _async by make_sync.py: change that.
"""Tools for models; approvals and reviews for people."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional

from .. import models
from .._bodies import Workdir, body_of, query_of
from .._decode import decode
from .._wire import path
from .http import Http, Stream


class Tools:
    """Adder's tools for models. A toolset is a choice of them: `compute`, `adder`, `assistant` ..."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(self, toolset: Optional[str] = None) -> List[models.Tool]:
        """Those that may be called, of TOOLSET."""
        reply = self._http.ask("GET", "/v1/tools", query=query_of({"toolset": toolset}))
        return [decode(models.Tool, each) for each in reply["tools"]]

    def definitions(self, format: str, toolset: Optional[str] = None) -> List[Dict[str, Any]]:
        """The same in the form of a model API's field `tools`: "openai", "anthropic" or "mcp"."""
        query = query_of({"toolset": toolset, "format": format})
        found: List[Dict[str, Any]] = (self._http.ask("GET", "/v1/tools", query=query))["tools"]
        return found

    def call(
        self,
        tool: str,
        arguments: Optional[Mapping[str, Any]] = None,
        *,
        toolset: Optional[str] = None,
        conversation: Optional[str] = None,
        approval: Optional[str] = None,
        workdir: Optional[Workdir] = None,
        variables: Optional[Mapping[str, str]] = None,
    ) -> models.ToolReply:
        """One call. Arguments that are wrong are told in the reply, for the model, and are no exception."""
        body = body_of(
            {
                "arguments": dict(arguments or {}),
                "toolset": toolset,
                "conversation": conversation,
                "approval": approval,
                "workdir": workdir,
                "variables": variables,
            }
        )
        reply = self._http.ask("POST", path("v1", "tools", tool), body=body, endless=True)
        return decode(models.ToolReply, reply)

    def stream(
        self,
        tool: str,
        arguments: Optional[Mapping[str, Any]] = None,
        *,
        toolset: Optional[str] = None,
        conversation: Optional[str] = None,
        approval: Optional[str] = None,
    ) -> Stream:
        """The same, event by event; the last is `Replied`."""
        body = {
            "arguments": dict(arguments or {}),
            "toolset": toolset,
            "conversation": conversation,
            "approval": approval,
        }
        return Stream(self._http, path("v1", "tools", tool), body_of(body))


def _approval(reply: Any) -> models.Approval:
    return decode(models.Approval, reply)


class Approvals:
    """What waits for a yes. To decide takes a token that speaks for a person."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(self) -> List[models.Approval]:
        """All that wait, and that were decided not long ago."""
        return [_approval(each) for each in (self._http.ask("GET", "/v1/approvals"))["approvals"]]

    def get(self, approval_id: str, wait: float = 0) -> models.Approval:
        """Waits so many seconds for a decision."""
        query = query_of({"wait_ms": round(wait * 1000) or None})
        where = path("v1", "approvals", approval_id)
        return _approval(self._http.ask("GET", where, query=query, endless=wait > 0))

    def approve(self, approval_id: str, always: bool = False) -> models.Approval:
        """ALWAYS: for all that its conversation asks for in that place."""
        where = path("v1", "approvals", approval_id, "approve")
        return _approval(self._http.ask("POST", where, body={"always": always}))

    def deny(self, approval_id: str, reason: Optional[str] = None) -> models.Approval:
        """Says no; the REASON is told to who asked."""
        where = path("v1", "approvals", approval_id, "deny")
        return _approval(self._http.ask("POST", where, body=body_of({"reason": reason})))


def _review(reply: Any) -> models.Review:
    return decode(models.Review, reply)


class Reviews:
    """Changes to a work directory that wait for a yes."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(self) -> List[models.Review]:
        """All that there are."""
        return [_review(each) for each in (self._http.ask("GET", "/v1/reviews"))["reviews"]]

    def get(self, review_id: str) -> models.Review:
        """One, with its changes."""
        return _review(self._http.ask("GET", path("v1", "reviews", review_id)))

    def commit(
        self, review_id: str, *, digest: Optional[str] = None, workdir: Optional[Workdir] = None
    ) -> models.Review:
        """Makes the changes in the directory. With DIGEST, only if they are still those that were looked at."""
        where = path("v1", "reviews", review_id, "commit")
        return _review(
            self._http.ask("POST", where, body=body_of({"digest": digest, "workdir": workdir}))
        )

    def undo(self, review_id: str, *, workdir: Optional[Workdir] = None) -> models.Review:
        """Puts the directory back to what it was before `commit`."""
        where = path("v1", "reviews", review_id, "undo")
        return _review(self._http.ask("POST", where, body=body_of({"workdir": workdir})))

    def drop(self, review_id: str) -> models.Review:
        """Forgets the changes; the directory stays as it is."""
        return _review(self._http.ask("POST", path("v1", "reviews", review_id, "drop"), body={}))
