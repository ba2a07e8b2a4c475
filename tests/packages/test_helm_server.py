# SPDX-License-Identifier: Apache-2.0
"""The Helm chart installed, upgraded and removed with a real Kubernetes API server, which has no machines: all that it validates and
admits, and what Helm asks it for. Nothing runs."""
import json
import os
import pathlib
import secrets
import shutil
import signal
import subprocess
import tempfile
import time

import pytest
import yaml

import ports
from harness import DEADLINE, REPOSITORY
from store_world import NOBODY, become_ordinary

CHART = REPOSITORY / "packaging/helm"
VALUES = REPOSITORY / "tests/kubernetes/values"
TOOLS = REPOSITORY / "build/kubernetes/bin"
SERVERS = REPOSITORY / "build/kubernetes-server"
STARTS_S = 120  # of a busy machine

pytestmark = [
    pytest.mark.deep,
    pytest.mark.skipif(not (SERVERS / "kube-apiserver").exists(), reason="no API server: kubernetes_server of scripts/common.sh builds one"),
]


class Kubernetes:
    """etcd and kube-apiserver at ports of 127.0.0.1, run by an ordinary user, in a directory below /tmp."""

    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="adder-kubernetes-", dir="/tmp"))
        self.reserved = [ports.reserve() for _ in range(3)]
        self.started = []
        token = secrets.token_hex(16)
        (self.directory / "tokens.csv").write_text(f'{token},tests,tests,"system:masters"\n')
        subprocess.run(["openssl", "genrsa", "-out", self.directory / "key", "2048"], check=True, capture_output=True, timeout=DEADLINE)
        if os.geteuid() == 0:
            for path in (self.directory, *self.directory.iterdir()):
                os.chown(path, NOBODY, NOBODY)
        client, peer, port = map(ports.number_of, self.reserved)
        self.start("etcd", "--data-dir", "data", "--unsafe-no-fsync", "--socket-reuse-port",
                   "--listen-client-urls", f"http://127.0.0.1:{client}", "--advertise-client-urls", f"http://127.0.0.1:{client}",
                   "--listen-peer-urls", f"http://127.0.0.1:{peer}")  # fmt: skip
        self.start("kube-apiserver", "--etcd-servers", f"http://127.0.0.1:{client}", "--bind-address", "127.0.0.1", "--secure-port", str(port),
                   "--permit-port-sharing", "--cert-dir", "certificates", "--service-cluster-ip-range", "10.0.0.0/24",
                   "--token-auth-file", "tokens.csv", "--authorization-mode", "AlwaysAllow",
                   "--service-account-issuer", "https://kubernetes.default.svc", "--service-account-key-file", "key",
                   "--service-account-signing-key-file", "key")  # fmt: skip
        self.config = self.directory / "kubeconfig"
        self.config.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "tests",
            "clusters": [{"name": "tests", "cluster": {"server": f"https://127.0.0.1:{port}", "insecure-skip-tls-verify": True}}],
            "users": [{"name": "tests", "user": {"token": token}}],
            "contexts": [{"name": "tests", "context": {"cluster": "tests", "user": "tests"}}],
        }))  # fmt: skip
        deadline = time.monotonic() + STARTS_S
        while self.tool("kubectl", "get", "--raw", "/readyz", check=False).returncode != 0:
            assert all(each.poll() is None for each in self.started) and time.monotonic() < deadline, self.logs()
            time.sleep(0.2)  # it tells nobody

    def start(self, name, *arguments):
        with open(self.directory / f"{name}.log", "wb") as log:
            self.started.append(subprocess.Popen([SERVERS / name, *arguments], preexec_fn=become_ordinary, cwd=self.directory,
                                                 stdin=subprocess.DEVNULL, stdout=log, stderr=log))  # fmt: skip

    def logs(self):
        return "\n".join(path.read_text(errors="replace")[-3000:] for path in self.directory.glob("*.log"))

    def tool(self, name, *arguments, text=None, check=True):
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.directory), "KUBECONFIG": str(self.directory / "kubeconfig")}
        ended = subprocess.run([TOOLS / name, *map(str, arguments)], capture_output=True, text=True, input=text, env=environment, timeout=DEADLINE)
        assert not check or ended.returncode == 0, (arguments, ended.stdout, ended.stderr)
        return ended

    def get(self, *what):
        return json.loads(self.tool("kubectl", "get", *what, "--output", "json").stdout)

    def namespace(self, name, standard):
        self.tool("kubectl", "create", "namespace", name)
        self.tool("kubectl", "label", "namespace", name, f"pod-security.kubernetes.io/enforce={standard}")

    def helm(self, command, namespace, values, *more, check=True):
        return self.tool("helm", command, "adder", CHART, "--namespace", namespace, "--values", VALUES / f"{values}.yaml", *more, check=check)

    def admits(self, namespace, kind, name):
        """Whether a pod of the template would be let in, and what was said."""
        template = self.get(kind, name, "--namespace", namespace)["spec"]["template"]
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "try", "labels": template["metadata"]["labels"]}, "spec": template["spec"]}
        claimed = [{"name": name, "emptyDir": {}} for name in ("data",) if not any(volume["name"] == name for volume in pod["spec"]["volumes"])]
        pod["spec"]["volumes"] += claimed
        told = self.tool("kubectl", "create", "--namespace", namespace, "--dry-run=server", "--filename", "-", text=json.dumps(pod), check=False)
        return told.returncode == 0, told.stderr

    def end(self):
        for process in reversed(self.started):
            process.send_signal(signal.SIGKILL)
            process.wait(DEADLINE)
        for reserved in self.reserved:
            reserved.close()
        shutil.rmtree(self.directory, ignore_errors=True)


@pytest.fixture(scope="module")
def kubernetes():
    server = Kubernetes()
    yield server
    server.end()


PODS = (("deployment", "adder-gateway"), ("statefulset", "adder-node"), ("statefulset", "adder-nats"))


def test_it_is_installed_upgraded_and_removed_and_its_secret_stays(kubernetes):
    kubernetes.namespace("life", "privileged")
    kubernetes.helm("install", "life", "usual")
    secret = kubernetes.get("secret", "adder", "--namespace", "life")["data"]
    assert len(secret) == 2
    kubernetes.helm("upgrade", "life", "usual", "--set", "nodes.replicas=5")
    assert kubernetes.get("statefulset", "adder-node", "--namespace", "life")["spec"]["replicas"] == 5
    assert kubernetes.get("secret", "adder", "--namespace", "life")["data"] == secret
    kubernetes.tool("helm", "uninstall", "adder", "--namespace", "life")
    assert kubernetes.get("secret", "adder", "--namespace", "life")["data"] == secret
    assert not kubernetes.get("statefulset,deployment,configmap", "--selector", "app.kubernetes.io/name=adder", "--namespace", "life")["items"]
    kubernetes.helm("install", "life", "usual")
    assert kubernetes.get("secret", "adder", "--namespace", "life")["data"] == secret, "and is found again"


def test_level_1_is_what_the_standard_restricted_admits(kubernetes):
    kubernetes.namespace("restricted", "restricted")
    told = kubernetes.helm("install", "restricted", "smallest")
    assert "would violate" not in told.stderr
    for kind, name in PODS:
        assert kubernetes.admits("restricted", kind, name) == (True, ""), name


@pytest.mark.parametrize("level", [2, 3])
def test_levels_2_and_3_need_the_standard_privileged_for_nodes_alone(kubernetes, level):
    for standard in ("restricted", "baseline", "privileged"):
        namespace = f"level{level}-{standard}"
        kubernetes.namespace(namespace, standard)
        kubernetes.helm("install", namespace, "usual", "--set", f"nodes.isolation={level}")
        for kind, name in PODS:
            admitted, told = kubernetes.admits(namespace, kind, name)
            assert admitted == (name != "adder-node" or standard == "privileged"), (standard, name, told)
            assert admitted or "violates PodSecurity" in told


def test_the_rest_of_the_values_is_accepted(kubernetes):
    for values in ("everything", "tls"):
        kubernetes.namespace(values, "privileged")
        kubernetes.helm("install", values, values, "--set", "autoscaling.enabled=false")
        for kind, name in PODS[: 2 if values == "everything" else 3]:
            if values == "everything":  # the class must be there
                handler = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "writable-cgroups"}, "handler": "writable"}
                kubernetes.tool("kubectl", "apply", "--filename", "-", text=yaml.safe_dump(handler))
            assert kubernetes.admits(values, kind, name) == (True, ""), name
