# SPDX-License-Identifier: Apache-2.0
"""The client that is awaited. _sync is made from this folder by make_sync.py."""
