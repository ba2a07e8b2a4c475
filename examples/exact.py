# SPDX-License-Identifier: Apache-2.0
"""What language models get wrong when they answer from memory, and Python does not."""
from datetime import date
from decimal import Decimal
from fractions import Fraction

print("NcS9euQa backwards:            ", "NcS9euQa"[::-1])
print("how often r is in strawberry:  ", "strawberry".count("r"))
print("second of apple,banana,cherry: ", "apple,banana,cherry".split(",")[1])
print("987654321987654321 squared:    ", 987654321987654321**2)
print("sum of the digits of 2**1000:  ", sum(map(int, str(2**1000))))
print("0.1 + 0.2, in decimals:        ", Decimal("0.1") + Decimal("0.2"))
print("1/3 + 1/7 + 1/11:              ", Fraction(1, 3) + Fraction(1, 7) + Fraction(1, 11))
print("days from 1969-07-20 to 2000:  ", (date(2000, 1, 1) - date(1969, 7, 20)).days)

# The value of a last expression comes back by itself.
sum(n for n in range(1000) if n % 3 == 0 or n % 5 == 0)
