# Must be refused: another personality, such as READ_IMPLIES_EXEC or addresses that are not random.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# stopped by in a container: container + seccomp
# files: attempt.py
import attempt

KINDS = {"READ_IMPLIES_EXEC": 0x0400000, "ADDR_NO_RANDOMIZE": 0x0040000, "MMAP_PAGE_ZERO": 0x0100000, "LINUX32": 8}
attempt.all_refused(
    {name: lambda number=number: attempt.call("personality", number) for name, number in KINDS.items()}
)
