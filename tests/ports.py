# SPDX-License-Identifier: Apache-2.0
"""TCP ports of 127.0.0.1 for servers that must be told theirs. A port that is merely looked up and closed may be anybody's by
the time that it is used."""
import socket


def reserve():
    """A bound socket that does not listen. As long as it is open, connections to its port are refused, and the kernel gives the
    port to nobody; a server may listen there if it sets SO_REUSEADDR or SO_REUSEPORT, as nearly all do."""
    reserved = socket.socket()
    for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
        reserved.setsockopt(socket.SOL_SOCKET, option, 1)
    reserved.bind(("127.0.0.1", 0))
    return reserved


def number_of(reserved):
    return reserved.getsockname()[1]
