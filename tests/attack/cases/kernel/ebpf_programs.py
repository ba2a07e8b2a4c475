# Must be refused: loading an eBPF program and making a map.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# cannot succeed: hosts of our day give eBPF to root alone (kernel.unprivileged_bpf_disabled)
# files: attempt.py
import attempt

MAP_CREATE, PROG_LOAD = 0, 5
program = attempt.block(0x00000000000000B7, 0x0000000000000095, form="=QQ")
licence = attempt.ctypes.create_string_buffer(b"GPL")
load = attempt.block(1, 2, attempt.ctypes.addressof(program), attempt.ctypes.addressof(licence), form="=IIQQ120x")
attempt.all_refused(
    {
        "map": lambda: attempt.call("bpf", MAP_CREATE, attempt.block(2, 4, 8, 1, form="=IIII112x"), 128),
        "program": lambda: attempt.call("bpf", PROG_LOAD, load, 128),
    }
)
