# SPDX-License-Identifier: Apache-2.0
"""Makes seccomp.json from the default profile of Docker: python3 seccomp.py DEFAULT.json >seccomp.json

Debian's package golang-github-docker-docker-dev has the default as profiles/seccomp/default.json. Conditions on capabilities
and architectures, which only Docker and Podman understand, are resolved for a process without capabilities on x86-64 and
aarch64, so that the result is a plain OCI profile, which Kubernetes understands too. Then it allows NEEDED besides."""
import json
import sys

# What a sandbox is made with, and the default refuses to processes without CAP_SYS_ADMIN. Only the kernel's own rules then
# decide: such a process can do all of this in a user namespace that it made, and none of it outside.
NEEDED = """
    clone unshare setns
    mount umount2 pivot_root mount_setattr open_tree move_mount fsopen fsconfig fsmount
    sethostname
""".split()

ARCHITECTURES = {
    "amd64": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"],
    "arm64": ["SCMP_ARCH_AARCH64", "SCMP_ARCH_ARM"],
}


def applies(rule):
    """To a process without capabilities on one of ARCHITECTURES, on any kernel that Adder runs on."""
    wanted, unwanted = rule.get("includes", {}), rule.get("excludes", {})
    there = not wanted.get("caps") and (not wanted.get("arches") or set(ARCHITECTURES) & set(wanted["arches"]))
    return there and not set(ARCHITECTURES) & set(unwanted.get("arches", []))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        default = json.load(file)
    rules = [{"names": NEEDED, "action": "SCMP_ACT_ALLOW"}]
    for rule in filter(applies, default["syscalls"]):
        names = [name for name in rule["names"] if name not in NEEDED]
        kept = {key: rule[key] for key in ("action", "args", "errnoRet") if key in rule}
        rules += [{"names": names, **kept}] if names else []
    profile = {
        "defaultAction": default["defaultAction"],
        "defaultErrnoRet": default["defaultErrnoRet"],
        "architectures": [name for names in ARCHITECTURES.values() for name in names],
        "syscalls": rules,
    }
    json.dump(profile, sys.stdout, indent=1)
    print()


main()
