"""The Kubernetes manifest is valid, gives pods no rights, and asks for every run."""

from __future__ import annotations

from typing import Any

import kubernetes_validate
import pytest
import yaml

from farpath.base.project import EXPERIMENTS, experiment_folder
from farpath.runs.experiment import FILE, OWN_PATHS, load_experiment

MANIFEST = EXPERIMENTS / "kubernetes" / "job.yaml"


@pytest.fixture(scope="module")
def parts() -> dict[str, Any]:
    documents = yaml.safe_load_all(MANIFEST.read_text())
    return {document["kind"]: document for document in documents}


@pytest.fixture(scope="module")
def pod(parts: dict[str, Any]) -> dict[str, Any]:
    return parts["Job"]["spec"]["template"]["spec"]


@pytest.mark.parametrize("kind", ["PersistentVolumeClaim", "NetworkPolicy", "Job"])
def test_each_part_of_the_manifest_follows_its_schema(parts: dict[str, Any], kind: str) -> None:
    kubernetes_validate.validate(parts[kind], "1.33", strict=True)


def test_a_mistake_in_the_manifest_would_be_seen(parts: dict[str, Any]) -> None:
    wrong = {**parts["Job"], "spec": {**parts["Job"]["spec"], "completion": 81}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, "1.33", strict=True)


def test_the_job_has_one_completion_for_each_run(parts: dict[str, Any]) -> None:
    spec = parts["Job"]["spec"]
    assert spec["completionMode"] == "Indexed"
    assert spec["completions"] == len(load_experiment("seven-regions").runs())
    assert spec["maxFailedIndexes"] == spec["completions"]


def test_its_pods_have_every_file_of_the_experiment(pod: dict[str, Any]) -> None:
    folder = experiment_folder("seven-regions")
    files = [folder / FILE, *(folder / OWN_PATHS).iterdir()]
    (volume,) = (each for each in pod["volumes"] if each["name"] == "experiment")
    items = {item["key"]: item["path"] for item in volume["configMap"]["items"]}
    assert items == {file.name: str(file.relative_to(folder)) for file in files}


def test_its_pods_have_no_rights(parts: dict[str, Any], pod: dict[str, Any]) -> None:
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["runAsUser"] != 0
    assert not pod["automountServiceAccountToken"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    policy = parts["NetworkPolicy"]["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert not {"ingress", "egress"} & set(policy)
    labels = parts["Job"]["spec"]["template"]["metadata"]["labels"]
    assert policy["podSelector"]["matchLabels"].items() <= labels.items()


def test_what_a_pod_writes_to_is_a_volume(pod: dict[str, Any]) -> None:
    (container,) = pod["containers"]
    mounts = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    assert {mount["name"] for mount in mounts.values()} == set(volumes)
    assert "emptyDir" in volumes[mounts["/tmp"]["name"]]
    out = next(text for text in container["args"] if text.startswith("--out="))
    assert out.startswith("--out=/farpath/results/")
    assert "persistentVolumeClaim" in volumes[mounts["/farpath/results"]["name"]]
