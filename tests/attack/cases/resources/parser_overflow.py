# Must do no harm: source code so deep that the parser's own stack ends.
# SPDX-License-Identifier: Apache-2.0
# stopped by: rlimits
# cannot succeed: it ends nothing but itself
# levels: 3 2 1
# limits: memory_bytes=256M
# result: result.outcome in ("ok", "crashed", "error", "memory_limit")
for code in ("(" * 100_000, "-" * 50_000 + "1", "[" * 5000 + "]" * 5000, "a." * 50_000 + "b"):
    try:
        compile(code, "deep", "exec")
    except (SyntaxError, RecursionError, MemoryError):
        pass
