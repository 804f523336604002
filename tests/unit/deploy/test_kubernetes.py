"""The Kubernetes manifests: valid by the schemas, closed by policies, drained with patience."""

import re
import subprocess
from itertools import product
from pathlib import Path
from typing import Any, cast

import kubernetes_validate
import pytest
import yaml
from typer.main import get_command

from deploy import env_files, secret_files
from retrieval_sidecar.cli import app as sidecar_app
from retrieval_sidecar.settings import Settings as SidecarSettings
from tests.support.requirements import kustomize
from worker.__main__ import app as worker_app
from worker.settings import Settings as WorkerSettings

DEPLOY = Path(__file__).parents[3] / "deploy"
BASE = DEPLOY / "kubernetes" / "base"
OVERLAY = DEPLOY / "kubernetes" / "overlays" / "example"
NAME = "app.kubernetes.io/name"
FIRST = "answerline.example.com/rollout"
PUBLIC = "public addresses"
# The Kubernetes that the schemas are of: what has to be accepted by more than the newest.
VERSIONS = ("1.31", kubernetes_validate.latest_version())


def resources(folder: Path) -> list[dict[str, Any]]:
    """What a kustomization's files hold."""
    kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text("utf-8"))
    files = [name for name in kustomization["resources"] if name.endswith(".yaml")]
    files += [patch["path"] for patch in kustomization.get("patches", [])]
    assert {*files, "kustomization.yaml"} == {path.name for path in folder.glob("*.yaml")}, "a file that is not used"
    return [each for name in files for each in yaml.safe_load_all((folder / name).read_text("utf-8"))]


ALL = resources(BASE)
PODS = {each["metadata"]["name"]: each["spec"]["template"] for each in ALL if each["kind"] in {"Deployment", "Job"}}
OURS = {"migrate", "voice", "manage", "work", "worker"}


def of_kind(kind: str) -> dict[str, dict[str, Any]]:
    return {each["metadata"]["name"]: each for each in ALL if each["kind"] == kind}


def container(name: str) -> dict[str, Any]:
    (only,) = PODS[name]["spec"]["containers"]
    return cast("dict[str, Any]", only)


def selects(selector: dict[str, Any], name: str) -> bool:
    labels = PODS[name]["metadata"]["labels"]
    return all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items())


def ends(policy_rules: list[dict[str, Any]], key: str) -> set[tuple[str, int]]:
    """Who is named by the rules of a policy, and at which port."""
    found = set()
    for rule in policy_rules:
        for peer, port in product(rule[key], rule["ports"]):
            if "ipBlock" in peer:
                who = PUBLIC
            elif "namespaceSelector" in peer:
                (who,) = peer["namespaceSelector"]["matchLabels"].values()
            else:
                who = peer["podSelector"]["matchLabels"][NAME]
            found.add((who, port["port"]))
    return found


def may(name: str, direction: str) -> set[tuple[str, int]]:
    """Where a pod may connect to ("egress"), or who may connect to it ("ingress"), all policies together."""
    key = "to" if direction == "egress" else "from"
    return {
        end
        for policy in of_kind("NetworkPolicy").values()
        if selects(policy["spec"]["podSelector"], name)
        for end in ends(policy["spec"].get(direction, []), key)
    }


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("resource", ALL, ids=lambda each: f"{each['kind']}-{each['metadata']['name']}")
def test_it_is_valid(resource: dict[str, Any], version: str) -> None:
    kubernetes_validate.validate(resource, version, strict=True)


def test_the_schemas_find_a_fault() -> None:
    wrong = {**of_kind("Deployment")["voice"], "spec": {**of_kind("Deployment")["voice"]["spec"], "replica": 2}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[-1], strict=True)


NAMES = {("kube-system", 53)}
DATABASE = {("database", 5432)}


@pytest.mark.parametrize(
    ("name", "reaches"),
    [
        ("worker", {("voice", 8090), ("egress", 3128), ("livekit", 7880), ("livekit", 7881), ("livekit", 7882)}),
        ("voice", DATABASE),
        ("manage", DATABASE),
        ("migrate", DATABASE),
        ("work", DATABASE | {(PUBLIC, 80), (PUBLIC, 443)}),
        ("egress", {(PUBLIC, 443)}),
    ],
)
def test_who_reaches_whom(name: str, reaches: set[tuple[str, int]]) -> None:
    assert may(name, "egress") == reaches | NAMES


@pytest.mark.parametrize(
    ("name", "reached_by"),
    [
        ("worker", set()),
        ("voice", {("worker", 8090)}),
        ("manage", {("operators", 8080)}),
        ("work", set()),
        ("migrate", set()),
        ("egress", {("worker", 3128)}),
    ],
)
def test_who_is_reached_by_whom(name: str, reached_by: set[tuple[str, int]]) -> None:
    assert may(name, "ingress") == reached_by


def test_what_no_policy_allows_is_refused() -> None:
    assert of_kind("NetworkPolicy")["nobody"]["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


def test_public_addresses_are_none_of_a_private_network() -> None:
    blocks = [
        peer["ipBlock"]
        for policy in of_kind("NetworkPolicy").values()
        for rule in policy["spec"].get("egress", [])
        for peer in rule["to"]
        if "ipBlock" in peer
    ]
    assert len(blocks) == 2
    for block in blocks:
        assert {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "127.0.0.0/8"} <= set(
            block["except"]
        )


@pytest.mark.parametrize("name", PODS)
def test_it_is_hardened_and_bounded(name: str) -> None:
    pod, only = PODS[name]["spec"], container(name)
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] == secret_files.OURS
    assert pod["automountServiceAccountToken"] is False
    assert pod["serviceAccountName"] in of_kind("ServiceAccount")
    assert only["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {"cpu", "memory"} <= set(only["resources"]["requests"])
    assert "memory" in only["resources"]["limits"]
    assert PODS[name]["metadata"]["labels"][NAME] == name


@pytest.mark.parametrize("name", sorted(OURS))
def test_secrets_are_files_of_its_own(name: str) -> None:
    environment = {each["name"]: each for each in container(name)["env"]}
    assert environment["ANSWERLINE_SECRETS_DIR"]["value"] == "/run/secrets"
    assert not [each for each in environment.values() if "valueFrom" in each]
    assert "envFrom" not in container(name)
    (secret,) = [volume["secret"] for volume in PODS[name]["spec"]["volumes"] if "secret" in volume]
    assert secret == {"secretName": f"answerline-{name}", "defaultMode": 0o440}, "closed to others, or we refuse it"
    settings = WorkerSettings if name == "worker" else SidecarSettings
    known = {env_files.variable(settings, field) for field in settings.model_fields}
    assert set(environment) - {"HTTPS_PROXY", "NO_PROXY"} <= known


@pytest.mark.parametrize("name", sorted(OURS))
def test_its_command_is_one_of_the_images(name: str) -> None:
    app = worker_app if name == "worker" else sidecar_app
    assert container(name)["args"][0] in vars(get_command(app))["commands"]


def test_running_calls_end_before_their_pod_does() -> None:
    drain = cast("int", WorkerSettings.model_fields["drain_s"].default)
    assert PODS["worker"]["spec"]["terminationGracePeriodSeconds"] > drain + 30
    worker = of_kind("Deployment")["worker"]["spec"]
    assert worker["progressDeadlineSeconds"] > PODS["worker"]["spec"]["terminationGracePeriodSeconds"]


@pytest.mark.parametrize("name", ["voice", "manage", "egress"])
def test_who_is_called_answers_until_nobody_calls_any_more(name: str) -> None:
    pause = container(name)["lifecycle"]["preStop"]["sleep"]["seconds"]
    # aiohttp lets requests end for 60 seconds.
    assert PODS[name]["spec"]["terminationGracePeriodSeconds"] > pause + 60
    assert of_kind("Service")[name]["spec"]["selector"] == {NAME: name}
    assert container(name)["readinessProbe"]


@pytest.mark.parametrize("name", ["voice", "worker", "manage", "egress"])
def test_a_rollout_and_a_drained_node_leave_some(name: str) -> None:
    deployment = of_kind("Deployment")[name]["spec"]
    assert deployment["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert selects(of_kind("PodDisruptionBudget")[name]["spec"]["selector"], name)
    scaler = of_kind("HorizontalPodAutoscaler").get(name)
    replicas = scaler["spec"]["minReplicas"] if scaler else deployment["replicas"]
    assert replicas >= 2
    assert ("replicas" in deployment) != bool(scaler), "one who counts"


def test_the_schema_is_migrated_by_a_job_that_ends() -> None:
    job = of_kind("Job")["migrate"]["spec"]
    assert job["template"]["spec"]["restartPolicy"] == "Never"
    assert job["activeDeadlineSeconds"]


def test_the_overlay_changes_what_is_there() -> None:
    names = {(each["kind"], each["metadata"]["name"]) for each in ALL}
    assert {(each["kind"], each["metadata"]["name"]) for each in resources(OVERLAY)} <= names
    kustomization = yaml.safe_load((OVERLAY / "kustomization.yaml").read_text("utf-8"))
    assert {image["name"] for image in kustomization["images"]} == {container(name)["image"] for name in PODS}
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", image["newTag"]) for image in kustomization["images"])
    # Merged by name, so that what is added has the form that the schemas want.
    for patch in resources(OVERLAY):
        if patch["kind"] == "HorizontalPodAutoscaler":
            whole = of_kind(patch["kind"])[patch["metadata"]["name"]]
            merged = {**whole, "spec": whole["spec"] | patch["spec"]}
            kubernetes_validate.validate(merged, VERSIONS[-1], strict=True)


@pytest.mark.kustomize
def test_the_overlay_is_put_together_as_it_reads() -> None:
    done = subprocess.run([kustomize() or "", "build", OVERLAY], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    built = {(each["kind"], each["metadata"]["name"]): each for each in yaml.safe_load_all(done.stdout)}
    for each in built.values():
        kubernetes_validate.validate(each, VERSIONS[-1], strict=True)
        if each["kind"] != "Namespace":
            assert each["metadata"]["namespace"] == "answerline"
    worker, base = built["Deployment", "worker"]["spec"]["template"]["spec"], PODS["worker"]["spec"]
    (only,) = worker["containers"]
    environment = {each["name"]: each["value"] for each in only["env"]}
    assert set(environment) == {each["name"] for each in container("worker")["env"]}, "added to, not replaced"
    assert environment["LIVEKIT_URL"] == "ws://livekit-server.livekit:7880"
    assert worker["volumes"] == base["volumes"]
    # Whoever changes the proxy's configuration gets new pods: its name holds a digest.
    (name,) = [name for kind, name in built if kind == "ConfigMap"]
    assert built["Deployment", "egress"]["spec"]["template"]["spec"]["volumes"][0]["configMap"]["name"] == name
    # The README rolls out the schema first, by this label: all that its Job takes to run and to reach the database.
    first = {key for key, each in built.items() if each["metadata"].get("labels", {}).get(FIRST) == "first"}
    assert first == {
        *(("Job", "migrate"), ("ServiceAccount", "migrate")),
        *(("NetworkPolicy", name) for name in ("nobody", "names", "migrate")),
    }
    assert f"{FIRST}=first" in (DEPLOY / "README.md").read_text("utf-8")


@pytest.mark.parametrize("name", ["squid.conf", "allowed-hosts.txt"])
def test_the_proxy_is_configured_as_in_compose(name: str) -> None:
    assert (OVERLAY / name).read_text("utf-8") == (DEPLOY / "compose" / "egress" / name).read_text("utf-8")
