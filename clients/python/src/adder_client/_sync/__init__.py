# SPDX-License-Identifier: Apache-2.0
# Made from _async by make_sync.py: change that.
"""The client that waits, made from _async."""
