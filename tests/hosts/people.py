# SPDX-License-Identifier: Apache-2.0
"""People at a host with systemd."""
import pwd

import harness

PASSED_ON = ("PATH", "HOME", "LANG", "NO_COLOR", "ADDER_RUNTIME_DIR", "ADDER_CONFIG_DIR", "ADDER_STATE_DIR")


def by_systemd(name, *properties):
    """Someone whose commands systemd starts, each as a service of its own."""
    settings = [f"--setenv={variable}" for variable in PASSED_ON]
    properties = [f"--property={item}" for item in (f"User={name}", *properties)]
    return harness.User(name, pwd.getpwnam(name).pw_uid, ["systemd-run", "--quiet", "--wait", "--pipe", "--collect", "--same-dir", *settings, *properties])


def logged_in(name):
    """Someone whose commands are of a login session."""
    return by_systemd(name, "PAMName=login")
