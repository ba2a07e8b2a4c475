# Must be refused: holding a capability that could be used.
# SPDX-License-Identifier: Apache-2.0
# stopped by: capabilities
# cannot succeed at 1: an ordinary user of the host has none to begin with
# files: attempt.py
import attempt

header, sets = attempt.block(0x20080522, 0, form="=Ii"), attempt.room(24)
attempt.call("capget", header, sets)
print(f"BREACH {sets.raw.hex()}" if any(sets.raw) else "held")
