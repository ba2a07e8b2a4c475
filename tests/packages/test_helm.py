# SPDX-License-Identifier: Apache-2.0
"""The Helm chart: what it makes of values is valid, safe, and what real daemons and a real NATS server work with."""
import base64
import copy
import functools
import json
import pathlib
import re
import shutil
import subprocess

import pytest
import yaml

import store_world
from harness import DEADLINE, REPOSITORY, unique, wait_until
from http_bed import Served
from nats_world import Nats

CHART = REPOSITORY / "packaging/helm"
CASES = REPOSITORY / "tests/kubernetes"
TOOLS = REPOSITORY / "build/kubernetes/bin"
SCHEMAS = REPOSITORY / "build/kubernetes/schemas"
VALUES = sorted(path.stem for path in (CASES / "values").glob("*.yaml"))
OLDEST = {"smallest": "1.30.0"}  # which Kubernetes a file of values works with
NEWEST = "1.37.0"
SANDBOXES = "1.33.0"  # from which on it has what levels 2 and 3 need

pytestmark = pytest.mark.skipif(
    not (TOOLS / "kubeconform").exists(), reason="no Helm and kubeconform in build/kubernetes: kubernetes_tools of scripts/common.sh installs them"
)


def tool(name, *arguments, text=None):
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "HELM_CACHE_HOME": "/nonexistent", "HELM_NO_PLUGINS": "1"}
    return subprocess.run([TOOLS / name, *map(str, arguments)], capture_output=True, text=True, input=text, env=environment, timeout=DEADLINE)


@functools.cache
def render(values, *more, version=NEWEST):
    """VALUES: a name in tests/kubernetes/values."""
    return tool("helm", "template", "adder", CHART, "--namespace", "apps", "--kube-version", version, "--values", CASES / f"values/{values}.yaml", *more)


@functools.cache
def parsed(values, *more):
    ended = render(values, *more)
    assert ended.returncode == 0, ended.stderr
    return [each for each in yaml.load_all(ended.stdout, yaml.CSafeLoader) if each]


def objects(values, *more):
    return copy.deepcopy(parsed(values, *more))


def named(rendered, kind, name):
    (found,) = [each for each in rendered if each["kind"] == kind and each["metadata"]["name"] == name]
    return found


def pods(rendered):
    """{name: spec} of all that runs."""
    found = {}
    for each in rendered:
        if each["kind"] == "Pod":
            found[each["metadata"]["name"]] = each["spec"]
        elif each["kind"] in ("Deployment", "StatefulSet"):
            found[each["metadata"]["name"]] = each["spec"]["template"]["spec"]
    return found


def conform(manifests, version):
    schemas = f"{SCHEMAS}/{{{{.NormalizedKubernetesVersion}}}}/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json"
    return tool("kubeconform", "-strict", "-skip", "ScaledObject", "-kubernetes-version", version, "-schema-location", schemas, text=manifests)


# ---- valid ----


@pytest.mark.parametrize("values", VALUES)
def test_the_linter_has_no_complaint(values):
    ended = tool("helm", "lint", "--strict", CHART, "--values", CASES / f"values/{values}.yaml")
    assert ended.returncode == 0 and "[WARNING]" not in ended.stdout, ended.stdout + ended.stderr


@pytest.mark.parametrize("values", VALUES)
def test_what_is_rendered_is_what_kubernetes_accepts(values):
    for version in (OLDEST.get(values, SANDBOXES), NEWEST):
        ended = conform(render(values, version=version).stdout, version)
        assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize("values", VALUES)
def test_the_rendered_settings_are_ones_that_adder_knows(values, tmp_path):
    token = tmp_path / "adder/token"
    token.parent.mkdir()
    token.touch(mode=0o600)
    token.write_text("x" * 43)

    def show(*more):
        for component in ("gateway", "node"):
            text = named(objects(values, *more), "ConfigMap", f"adder-{component}")["data"]["adder.conf"]
            (tmp_path / "adder.conf").write_text(text.replace("/run/secrets", str(tmp_path)))
            yield subprocess.run([REPOSITORY / "build/adder", "config", "show"], capture_output=True, text=True, timeout=DEADLINE,
                                 env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "ADDER_CONFIG_DIR": str(tmp_path)})  # fmt: skip

    for ended in show():
        assert ended.returncode == 0, ended.stderr
    assert all("there is no such key" in ended.stderr for ended in show("--set", "config.pool.no_such_key=1"))


def test_a_field_that_kubernetes_does_not_know_is_noticed():
    manifests = render("usual").stdout
    for right, wrong in (("hostUsers:", "hostUser:"), ("procMount: Unmasked", "procMount: 1"), ("podManagementPolicy:", "podManagement:")):
        assert right in manifests
        assert conform(manifests.replace(right, wrong), NEWEST).returncode != 0, wrong


def test_an_older_kubernetes_is_refused():
    refused = render("usual", version="1.32.0")
    assert refused.returncode != 0 and "nodes.isolation 2 and 3 need Kubernetes 1.33" in refused.stderr
    refused = render("smallest", version="1.29.0")
    assert refused.returncode != 0 and "kubeVersion" in refused.stderr


def test_autoscaling_is_what_keda_accepts():
    scaled = named(objects("everything"), "ScaledObject", "adder-node")
    node, packages = REPOSITORY / "build/node/bin/node", REPOSITORY / "build/kubernetes-packages"

    def check(changed):
        return subprocess.run([node, CASES / "keda.mjs", packages], input=json.dumps([changed]), capture_output=True, text=True, timeout=DEADLINE)

    told = check(scaled)
    assert told.returncode == 0, told.stderr
    scaled["spec"]["maxReplicaCount"] = "ten"
    assert check(scaled).returncode != 0
    # Helm and KEDA would each set the number.
    assert "replicas" not in named(objects("everything"), "StatefulSet", "adder-node")["spec"]


@pytest.mark.parametrize("setting, complaint", {
    "nodes.isolation=4": "nodes/isolation",
    "nodes.isolaton=1": "isolaton",
    "gateway.replicas=none": "gateway/replicas",
    "postgresql.url=postgresql://adder:password@db/adder": "postgresql/url",
    "s3.url=https://s3.example.org": "s3/url",
    "nats.url=http://nats": "nats/url",
    "nodes.config.pool=8": "nodes/config/pool",
    "networkPolicy.gatewayFrom=everybody": "networkPolicy/gatewayFrom",
    "nodes.storage.size=lots": "nodes/storage/size",
    "secret.name=Own": "secret/name",
}.items())  # fmt: skip
def test_values_that_make_no_sense_are_refused(setting, complaint):
    refused = render("smallest", "--set", setting)
    assert refused.returncode != 0 and complaint in refused.stderr.replace(".", "/"), refused.stderr


@pytest.mark.parametrize("missing", ["image.repository", "postgresql.url", "s3.url"])
def test_what_is_required_is_asked_for(missing):
    refused = render("smallest", "--set", f"{missing}=")
    assert refused.returncode != 0 and f"{missing} is required" in refused.stderr


def test_all_keys_are_in_the_schema_and_have_a_value_in_the_tests():
    """So that no key of values.yaml is left out of either."""

    def keys(values, path=()):
        for key, value in values.items():
            yield (*path, key)
            if isinstance(value, dict) and key not in ("resources", "config"):
                yield from keys(value, (*path, key))

    schema = json.loads((CHART / "values.schema.json").read_text())
    for path in keys(yaml.safe_load((CHART / "values.yaml").read_text())):
        at = schema
        for key in path:
            at = at["properties"][key]


# ---- safe ----


def isolated(values, *more):
    """(the pod of nodes, their container's securityContext)"""
    spec = pods(objects(values, *more))["adder-node"]
    return spec, spec["containers"][0]["securityContext"]


@pytest.mark.parametrize("values", VALUES)
def test_no_pod_has_more_rights_than_its_work_needs(values):
    for name, spec in pods(objects(values)).items():
        assert spec["automountServiceAccountToken"] is spec["enableServiceLinks"] is False
        assert spec["securityContext"]["runAsNonRoot"] and spec["securityContext"]["runAsUser"] > 0
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec)
        assert not any("hostPath" in volume for volume in spec["volumes"])
        for container in spec["containers"] + spec.get("initContainers", []):
            rights = container["securityContext"]
            assert rights["readOnlyRootFilesystem"] and rights["allowPrivilegeEscalation"] is False and "privileged" not in rights
            assert rights["capabilities"] == {"drop": ["ALL"]}
            assert container["resources"]["requests"] and container["resources"]["limits"]["memory"]
            if (name, container["name"]) != ("adder-node", "adder"):
                assert rights["seccompProfile"] == {"type": "RuntimeDefault"} and set(rights) == {
                    "readOnlyRootFilesystem", "allowPrivilegeEscalation", "capabilities", "seccompProfile"}, name  # fmt: skip


def test_nodes_have_what_their_level_needs_and_no_more():
    spec, rights = isolated("smallest")
    assert "hostUsers" not in spec and rights["seccompProfile"] == {"type": "RuntimeDefault"} and "procMount" not in rights
    spec, rights = isolated("usual")
    assert spec["hostUsers"] is False and rights["procMount"] == "Unmasked" and "runtimeClassName" not in spec
    assert rights["seccompProfile"] == {"type": "Localhost", "localhostProfile": "adder.json"}
    assert rights["appArmorProfile"] == {"type": "Unconfined"}
    spec, rights = isolated("everything")
    assert spec["hostUsers"] is False and spec["runtimeClassName"] == "writable-cgroups"
    assert rights["seccompProfile"]["localhostProfile"] == "profiles/adder.json"
    assert rights["appArmorProfile"] == {"type": "Localhost", "localhostProfile": "adder-node"}
    for values, level in (("smallest", 1), ("usual", 2), ("everything", 3)):
        conf = named(objects(values), "ConfigMap", "adder-node")["data"]["adder.conf"]
        assert f"[sandbox]\nmin_isolation = {level}\n" in conf, "or runs would be less isolated than somebody asked for"


def test_secrets_are_made_where_none_is_given():
    made = [named(objects("usual", *release), "Secret", "adder")["data"] for release in ((), ("--description", "again"))]
    for data in made:
        assert all(len(base64.b64decode(data[key])) >= 32 for key in ("token", "cluster"))
    assert made[0] != made[1]
    rendered = objects("everything")
    assert not [each for each in rendered if each["kind"] == "Secret"]
    assert {"name": "secret", "secret": {"secretName": "adder-own", "defaultMode": 0o440}} in pods(rendered)["adder-node"]["volumes"]


def policy(values, name):
    return named(objects(values), "NetworkPolicy", name)["spec"]


def ports(rules):
    return [port["port"] for rule in rules for port in rule["ports"]]


def test_nodes_reach_their_servers_and_nobody_reaches_nodes():
    spec = policy("usual", "adder-node")
    assert spec["policyTypes"] == ["Ingress", "Egress"] and spec["ingress"] == []
    assert ports(spec["egress"]) == [53, 53, 4222, 5432, 9000]
    assert spec["egress"][1]["to"] == [{"podSelector": {"matchLabels": policy("usual", "adder-nats")["podSelector"]["matchLabels"]}}]
    spec = policy("everything", "adder-node")
    assert ports(spec["egress"]) == [53, 53, 4222, 4223, 5433, 5432, 80, 443]
    assert [rule["to"] for rule in spec["egress"][2:4]] == [[{"ipBlock": {"cidr": "192.0.2.0/24"}}], [{"ipBlock": {"cidr": "192.0.2.9/32"}}]]
    assert spec["ingress"][0]["from"] == [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}]
    assert ports(policy("smallest", "adder-node")["egress"])[-1] == 443, "where S3 is without an endpoint"
    assert not [each for each in objects("tls") if each["kind"] == "NetworkPolicy"]


def test_gateways_are_reached_by_the_ingress_alone():
    (rule,) = policy("usual", "adder-gateway")["ingress"]
    ingress, test = rule["from"]
    assert ingress == {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "ingress-nginx"}}}
    assert test["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == "test"
    assert policy("smallest", "adder-gateway")["ingress"][0]["from"] == [{"podSelector": {}}]
    assert policy("usual", "adder-nats")["egress"] == [] and len(policy("usual", "adder-nats")["ingress"][0]["from"]) == 2


def test_every_reference_has_its_object():
    """Selectors find pods, mounts have volumes, ports their names."""
    for values in VALUES:
        rendered = objects(values)
        labels = [each["spec"]["template"]["metadata"]["labels"] for each in rendered if each["kind"] in ("Deployment", "StatefulSet")]
        for each in rendered:
            spec = each.get("spec", {})
            for selector in (each["kind"] == "Service" and spec["selector"], each["kind"] == "NetworkPolicy" and spec["podSelector"]["matchLabels"],
                             each["kind"] == "PodDisruptionBudget" and spec["selector"]["matchLabels"]):  # fmt: skip
                assert not selector or sum(selector.items() <= found.items() for found in labels) == 1, each
        maps = {each["metadata"]["name"] for each in rendered if each["kind"] == "ConfigMap"}
        for spec in pods(rendered).values():
            volumes = {volume["name"]: volume for volume in spec["volumes"]}
            for container in spec["containers"] + spec.get("initContainers", []):
                claimed = {"data"} if container["name"] == "nats" else set()
                assert {mount["name"] for mount in container["volumeMounts"]} <= set(volumes) | claimed
            assert {volume["configMap"]["name"] for volume in volumes.values() if "configMap" in volume} <= maps


# ---- in use ----


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """ca.crt, tls.crt and tls.key as cert-manager would make them, for 127.0.0.1."""
    folder = pathlib.Path(tmp_path_factory.mktemp("tls"))

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True, timeout=DEADLINE)

    new = ("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc")
    openssl(*new, "-x509", "-days", "2", "-subj", "/CN=tests", "-keyout", "ca.key", "-out", "ca.crt")
    openssl(*new, "-subj", "/CN=adder", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "tls.key", "-out", "tls.csr")
    openssl("x509", "-req", "-days", "2", "-in", "tls.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-copy_extensions", "copy", "-out", "tls.crt")
    yield folder


class Release:
    """The daemons of a rendered chart: a gateway and two nodes, with what their pods are given in the same places below a folder of
    their own; real servers of NATS, PostgreSQL and S3."""

    def __init__(self, make, user, certificates):
        self.servers = []
        try:
            for kind in (store_world.Postgres, store_world.S3):
                self.servers.append(kind())
            records, files = self.servers[0].new(), self.servers[1].new(user.uid)
            self.rendered = objects("tls", "--set", f"postgresql.url={records}", "--set", f"s3.url={files}", "--set", "nodes.isolation=2",
                                    "--set", "gateway.config.environment.default=system", "--set", "nodes.config.environment.default=system")  # fmt: skip
            self.nats = self.start_nats(certificates)
            self.secret = {key: base64.b64decode(text) for key, text in named(self.rendered, "Secret", "adder")["data"].items()}
            self.metrics = self.tokens(make())
            self.gateway = self.daemon(make(), "gateway", "adder-gateway-5c9f-x", certificates)
            self.nodes = [self.daemon(make(), "node", f"adder-node-{number}", certificates) for number in range(2)]
        except BaseException:
            self.end()
            raise

    def start_nats(self, certificates):
        """With the chart's settings, but for addresses and places."""
        conf = named(self.rendered, "ConfigMap", "adder-nats")["data"]["nats.conf"]
        tls = re.search(r"^tls \{.*?^\}", conf, re.M | re.S)[0].replace("/run/secrets/nats-tls", "%s")
        server = Nats(tls)
        self.servers.append(server)
        for name in ("ca.crt", "tls.crt", "tls.key"):
            shutil.copy(certificates / name, server.directory)
            (server.directory / name).chmod(0o644)
        return server.up()

    def tokens(self, adder):
        """The file of tokens that a Secret holds, made as docs/kubernetes.md says; and one of them."""
        ended = adder.call("token", "new", "prometheus", "--role", "admin", "--read-only")
        assert ended.returncode == 0, ended
        self.file_of_tokens = (adder.state / "tokens.json").read_bytes()
        return ended.stdout.strip()

    def daemon(self, adder, component, host, certificates):
        secrets = {f"adder/{key}": value for key, value in self.secret.items()} | {"tokens/tokens.json": self.file_of_tokens}
        secrets |= {f"nats-tls/{name}": (certificates / name).read_bytes() for name in ("ca.crt", "tls.crt", "tls.key")}
        for name, content in secrets.items():
            adder.file(f"secrets/{name}", content).chmod(0o600)
        spec = pods(self.rendered)[f"adder-{component}"]
        assert {mount["mountPath"] for mount in spec["containers"][0]["volumeMounts"]} >= {"/run/secrets/adder", "/run/secrets/nats-tls", "/etc/adder"}

        def here(text):
            text = text.replace("/run/secrets", f"{adder.scratch}/secrets").replace("/data/state", str(adder.state))
            return text.replace("adder-nats:4222", f"127.0.0.1:{self.nats.port}")

        (first,) = spec["initContainers"]
        script = here(first["command"][-1])
        subprocess.run([*adder.user.prefix, *first["command"][:-1], script], check=True, timeout=DEADLINE)
        adder.variables.update({"AWS_ACCESS_KEY_ID": "adder", "AWS_SECRET_ACCESS_KEY": store_world.KEYS["adder"]})
        # The name of the host, which tests share, is the pod's there.
        adder.configure(here(named(self.rendered, "ConfigMap", f"adder-{component}")["data"]["adder.conf"]).replace("[store]", f"[store]\nnode = {host}-{unique()}"))
        assert spec["containers"][0]["args"] == ["serve", "--http=0.0.0.0:7117"]
        return Served(adder, listen="127.0.0.1:0", token=False)

    def end(self):
        for daemon in [getattr(self, "gateway", None), *getattr(self, "nodes", [])]:
            if daemon:
                daemon.stop()
        for server in reversed(self.servers):
            server.end()


@pytest.fixture(scope="module")
def release(make_shared_adder, user, certificates):
    try:
        release = Release(make_shared_adder, user, certificates)
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    yield release
    release.end()


def probes(release, component):
    container = pods(release.rendered)[f"adder-{component}"]["containers"][0]
    return [container[probe]["httpGet"]["path"] for probe in ("livenessProbe", "readinessProbe")]


@pytest.mark.slow
def test_the_probes_find_each_of_them_ready(release):
    for component, daemon in [("gateway", release.gateway), *(("node", node) for node in release.nodes)]:
        for path in probes(release, component):
            wait_until(lambda: daemon.ask("GET", path, secret="").status == 200, f"{component} {path}")


@pytest.mark.slow
def test_the_service_is_answered_by_its_names_and_no_others(release):
    for host, status in (("adder:7117", 200), ("adder.apps.svc.cluster.local", 200), ("adder.elsewhere.svc", 421)):
        told = release.gateway.ask("GET", "/v1/nodes", secret=release.metrics, Host=host)
        assert told.status == status, (host, told)


@pytest.mark.slow
def test_the_charts_own_test_is_a_run_on_a_node(release):
    spec = pods(release.rendered)["adder-test"]
    address, token = spec["containers"][0]["env"]
    assert address == {"name": "ADDER_URL", "value": "http://adder:7117"} and token["name"] == "ADDER_TOKEN"
    assert token["valueFrom"]["secretKeyRef"] == {"name": "adder", "key": "token"}
    adder = release.gateway.adder
    wait_until(lambda: len(release.gateway.get("/v1/nodes", secret=release.metrics).json()["nodes"]) == 3, "all are known")
    given = {"ADDER_URL": f"http://127.0.0.1:{release.gateway.port}", "ADDER_TOKEN": release.secret["token"].decode()}
    told = adder.call(*spec["containers"][0]["args"], env={**adder.process_environment(), **given})
    assert (told.returncode, told.stdout) == (0, "42\n"), told


@pytest.mark.slow
def test_what_autoscaling_asks_for_is_measured(release):
    query = named(objects("everything"), "ScaledObject", "adder-node")["spec"]["triggers"][0]["metadata"]["query"]
    wanted = set(re.findall(r"\badder_\w+", query.replace("apps", "")))
    assert wanted == {"adder_sandboxes_running", "adder_runs_waiting"}
    for daemon in (release.gateway, *release.nodes):
        told = daemon.get("/metrics", secret=release.metrics)
        assert told.status == 200 and wanted <= set(re.findall(r"^(\w+) ", told.body.decode(), re.M)), told
        assert daemon.get("/metrics", secret=release.secret["token"].decode()).status == 403, "the users' token does not see them"


def grace(release, component):
    spec = pods(release.rendered)[f"adder-{component}"]
    conf = named(release.rendered, "ConfigMap", f"adder-{component}")["data"]["adder.conf"]
    return spec["terminationGracePeriodSeconds"], int(re.search(r"drain_ms = (\d+)s", conf)[1])


@pytest.mark.slow
def test_pods_have_longer_to_end_than_a_drain_takes(release):
    for component in ("gateway", "node"):
        given, drain = grace(release, component)
        assert given >= drain + 15 + 5, "15 for open requests after the drain, 5 before it"
