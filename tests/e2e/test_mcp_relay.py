# SPDX-License-Identifier: Apache-2.0
"""What `adder mcp` itself answers while it has no daemon."""
from mcp_lines import LEGACY, Lines, kill_daemon


def test_a_line_that_is_too_long_for_any_daemon(make_adder):
    adder = make_adder()
    with Lines(adder, version=LEGACY[0]) as lines:
        lines.tools()
        kill_daemon(adder)
        lines.raw("x" * (64 * 1024 * 1024 + 1) + "\n")
        error = lines.receive()["error"]
        assert error["code"] == -32700 and "longer than" in error["message"]
        assert lines.tools()
