# Must do no harm: thirty names that become equal when they are cleaned.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cleanup
# cannot succeed: names are made to differ, which no switch leaves out
# levels: 3 2 1
# result: len({file["name"] for file in result.files}) == 30
for number in range(1, 31):
    with open(chr(number), "w") as file:
        file.write(str(number))
