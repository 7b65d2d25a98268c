import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from evenkeel.model import names
from evenkeel.model.annotations import OWNERS, OwnersEntry, Place
from evenkeel_cli.main import main

ROOT = Path(__file__).resolve().parents[3]


def lint(*arguments: str, given: str | bytes = "") -> Result:
    return CliRunner().invoke(main, ["lint", *arguments], input=given)


def findings(manifest: str) -> list[str]:
    """What is said of a manifest, without the file."""
    done = lint("-", given=manifest)
    lines = [line.removeprefix("-:") for line in done.stdout.splitlines()]
    assert done.exit_code == (1 if lines else 0)
    return lines


def an_object(kind: str, line: str, place: str = "annotations", api: str = "v1") -> str:
    """An object with one label or annotation, in line 6."""
    return (
        f"apiVersion: {api}\nkind: {kind}\nmetadata:\n  name: web\n  {place}:\n    {line}\n"
        "spec:\n  template:\n    spec:\n      containers: []\n"
    )


def a_template(kind: str, line: str) -> str:
    """An object whose pod template has one annotation, in line 9."""
    return (
        f"apiVersion: apps/v1\nkind: {kind}\nmetadata:\n  name: web\nspec:\n  template:\n"
        f"    metadata:\n      annotations:\n        {line}\n    spec:\n      containers: []\n"
    )


def test_a_finding_is_a_line_that_says_where_it_is_and_what_to_write(tmp_path: Path) -> None:
    file = tmp_path / "web.yaml"
    file.write_text(an_object("Deployment", "evenkeel.dev/handover: no-thanks", api="apps/v1"))

    done = lint(str(file))

    assert done.stdout == (
        f"{file}:6: deployment/web: evenkeel.dev/handover cannot be 'no-thanks': write never\n"
    )
    assert done.stderr == "1 finding in 1 object\n"
    assert done.exit_code == 1


FLOORS = "none, all, majority, a number such as 2, or a percentage such as 30%"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("on-demand: half", f"cannot be 'half': write {FLOORS}"),
        ("on-demand: 2", 'has to be text, in quotes: write evenkeel.dev/on-demand: "2"'),
        ("on-demand: [2]", f"has to be text, in quotes: write {FLOORS}"),
        ("one-pool-at-most: 0%", "cannot be '0%': write 30%, another percentage, or a number such"),
        ("at-deadline:", "cannot be '': write delete or leave"),
        ("gate: 'no'", 'cannot be \'no\': write "false" or "true"'),
        ("notice: '{}'", "is written by Evenkeel itself: take it out"),
        ("gang: 'true'", "has no effect here: take it out, or write it on a Job"),
        ("managed: 'true'", "has no effect here: take it out, or write it on a Namespace"),
    ],
)
def test_what_a_deployment_says_wrong_is_told(line: str, told: str) -> None:
    key = f"evenkeel.dev/{line.partition(':')[0]}"
    found = findings(an_object("Deployment", f"evenkeel.dev/{line}", api="apps/v1"))[0]
    assert found.startswith(f"6: deployment/web: {key} {told}")


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("evenkeel.dev/sorry", "write one of evenkeel.dev/managed, evenkeel.dev/gate, "),
        ("evenkeel.dev/on-demmand", "write evenkeel.dev/on-demand"),
        ("evenkeel.io/handover", "write evenkeel.dev/handover"),
    ],
)
def test_an_annotation_that_there_is_not_is_told_with_the_nearest(key: str, told: str) -> None:
    (found,) = findings(an_object("Deployment", f"{key}: all", api="apps/v1"))
    assert found.startswith(f"6: deployment/web: there is no annotation '{key}': {told}")


@pytest.mark.parametrize(
    "line",
    [
        "evenkeel.dev/on-demand: 30%",
        'evenkeel.dev/on-demand: "2"',
        "evenkeel.dev/one-pool-at-most: 30%",
        "evenkeel.dev/handover: Never",
        "evenkeel.dev/at-deadline: leave",
        "evenkeel.dev/placement: template",
        'evenkeel.dev/gate: "false"',
        "evenkeel.test/complete-after: 30s",
        "example.com/handover: sometimes",
        "handover: 1",
    ],
)
def test_what_is_right_or_none_of_evenkeels_is_not_told_of(line: str) -> None:
    assert findings(an_object("Deployment", line, api="apps/v1")) == []


@pytest.mark.parametrize(
    ("kind", "line", "told"),
    [
        ("Deployment", "evenkeel.dev/handover: never", None),
        ("Deployment", "evenkeel.dev/one-pool-at-most: 30%", None),
        ("Rollout", "evenkeel.dev/at-deadline: leave", None),
        (
            "StatefulSet",
            "evenkeel.dev/handover: never",
            "evenkeel.dev/handover has no effect on the pods of a StatefulSet: take it out",
        ),
        (
            "DaemonSet",
            "evenkeel.dev/at-deadline: leave",
            "evenkeel.dev/at-deadline has no effect on the pods of a DaemonSet: take it out",
        ),
        (
            "Deployment",
            "evenkeel.dev/placement: template",
            (
                "evenkeel.dev/placement has no effect in spec.template.metadata.annotations: write"
                " it into metadata.annotations"
            ),
        ),
        ("Deployment", "evenkeel.dev/on-demand: all", None),
    ],
)
def test_a_pod_template_may_say_what_counts_for_its_pods(
    kind: str, line: str, told: str | None
) -> None:
    wanted = [f"9: {kind.lower()}/web: {told}"] if told else []
    assert findings(a_template(kind, line)) == wanted


@pytest.mark.parametrize(
    ("kind", "api", "key"),
    [
        ("Rollout", "argoproj.io/v1alpha1", "on-demand: '2'"),
        ("Rollout", "argoproj.io/v1alpha1", "handover: never"),
        ("ScaledJob", "keda.sh/v1alpha1", "gang: 'true'"),
        ("Prometheus", "monitoring.coreos.com/v1", "on-demand: all"),
        ("Alertmanager", "monitoring.coreos.com/v1", "at-deadline: leave"),
    ],
)
def test_an_annotation_counts_whose_controller_copies_it_to_what_it_makes(
    kind: str, api: str, key: str
) -> None:
    done = lint("-", given=an_object(kind, f"evenkeel.dev/{key}", api=api))
    assert (done.stdout, done.exit_code) == ("", 0)
    assert done.stderr == "0 findings in 1 object\n"


def test_an_annotation_that_counts_nowhere_on_what_is_made_is_told() -> None:
    manifest = an_object("Rollout", "evenkeel.dev/gang: 'true'", api="argoproj.io/v1alpha1")
    (told,) = findings(manifest)
    assert told.endswith("evenkeel.dev/gang has no effect here: take it out, or write it on a Job")


def test_an_annotation_on_a_kind_that_is_not_read_is_remarked_on_and_no_finding() -> None:
    manifest = an_object("RayCluster", "evenkeel.dev/on-demand: all", api="ray.io/v1")
    done = lint("-", given=manifest)
    assert (done.stdout, done.exit_code) == ("", 0)
    assert done.stderr == (
        "-:6: raycluster.ray.io/web: evenkeel.dev/on-demand is not read of a RayCluster.ray.io: it"
        " counts if copied to the ReplicaSet, StatefulSet or Job\n"
        "0 findings in 1 object\n"
    )


def test_a_value_is_checked_wherever_it_may_count() -> None:
    manifest = an_object("RayCluster", "evenkeel.dev/on-demand: half", api="ray.io/v1")
    assert findings(manifest) == [
        f"6: raycluster.ray.io/web: evenkeel.dev/on-demand cannot be 'half': write {FLOORS}"
    ]


def test_a_cron_job_says_it_in_the_template_of_its_jobs() -> None:
    manifest = (
        "kind: CronJob\nmetadata:\n  name: nightly\n  annotations: {evenkeel.dev/gang: 'true'}\n"
        "spec:\n  jobTemplate:\n    metadata: {annotations: {evenkeel.dev/on-demand: all}}\n"
        "    spec:\n      template:\n"
        "        metadata: {annotations: {evenkeel.dev/gang: 'true'}}\n"
        "        spec: {containers: []}\n"
    )
    there = "write it into spec.jobTemplate.metadata.annotations"
    assert findings(manifest) == [
        f"4: cronjob/nightly: evenkeel.dev/gang has no effect in metadata.annotations: {there}",
        (
            "10: cronjob/nightly: evenkeel.dev/gang has no effect in"
            f" spec.jobTemplate.spec.template.metadata.annotations: {there}"
        ),
    ]


def test_the_nodes_of_a_node_pool_may_be_reserved_for_singles() -> None:
    manifest = (
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: kept}\nspec:\n"
        "  template:\n    metadata:\n      labels: {evenkeel.dev/headroom: singles}\n"
    )
    assert findings(manifest) == []
    (found,) = findings(manifest.replace("singles", "all"))
    assert "evenkeel.dev/headroom cannot be 'all'" in found


def test_a_namespace_takes_part_by_labels_alone() -> None:
    line = "evenkeel.dev/gate: 'true'"
    assert findings(an_object("Namespace", line, "labels")) == []
    assert findings(an_object("Namespace", line)) == [
        (
            "6: namespace/web: evenkeel.dev/gate has no effect in metadata.annotations: write it"
            " into metadata.labels"
        )
    ]


def test_in_the_clusters_own_namespaces_nothing_is_managed() -> None:
    line = "evenkeel.dev/managed: 'true'"
    manifest = an_object("Namespace", line, "labels").replace("web", "kube-system")
    assert findings(manifest) == [
        (
            "6: namespace/kube-system: evenkeel.dev/managed has no effect on the namespace"
            " kube-system: take it out"
        )
    ]


@pytest.mark.parametrize("entry", OWNERS)
def test_every_entry_of_the_table_is_right_where_it_says(entry: OwnersEntry[object]) -> None:
    value = entry.values.split(" or ")[0].split(",")[0].strip('"')
    place = "labels" if entry.place is Place.LABEL else "annotations"
    apis = {
        "Job": "batch/v1",
        "Namespace": "v1",
        "Pod": "v1",
        "PodGroup": "scheduling.x-k8s.io/v1alpha1",
    }
    for kind in entry.on:
        api = apis.get(kind, "apps/v1")
        assert findings(an_object(kind, f'{entry.key}: "{value}"', place, api)) == []


def test_objects_of_many_documents_and_of_lists_are_looked_at() -> None:
    one = an_object("Service", "evenkeel.dev/gang: 'true'")
    listed = {
        "kind": "List",
        "items": [
            {"kind": "Job", "metadata": {"name": "j", "labels": {"evenkeel.dev/gang": "true"}}},
            {"kind": "NamespaceList", "items": [{"kind": "Namespace", "metadata": {"labels": {}}}]},
        ],
    }
    found = findings(f"---\n{one}---\n# nothing\n---\n{json.dumps(listed)}\n")
    assert [line.partition(" evenkeel")[0] for line in found] == ["7: service/web:", "15: job/j:"]


def test_json_that_is_indented_by_tabs_is_read() -> None:
    manifest = {"kind": "Pod", "metadata": {"name": "p", "annotations": {"evenkeel.dev/x": "1"}}}
    (found,) = findings(json.dumps(manifest, indent="\t"))
    assert found.startswith("6: pod/p: there is no annotation 'evenkeel.dev/x': write one of")


def test_of_a_cluster_what_evenkeel_wrote_and_what_controllers_made_is_right() -> None:
    live = an_object("Deployment", "evenkeel.dev/restored: '{}'", api="apps/v1")
    owned = an_object("ReplicaSet", "evenkeel.dev/placement: template", api="apps/v1")

    assert findings(live.replace("  name", "  uid: u\n  name")) == []
    assert findings(owned.replace("  name", "  ownerReferences: [{}]\n  name")) == []


def test_merged_fields_count() -> None:
    manifest = (
        "kind: Deployment\nmetadata: {name: a, annotations: &a {evenkeel.dev/gang: 'true'}}\n"
        "---\nkind: Deployment\nmetadata:\n  name: b\n  annotations:\n"
        "    <<: {evenkeel.dev/gang: 'true'}\n"
    )
    assert [line.partition(": ev")[0] for line in findings(manifest)] == [
        "2: deployment/a",
        "8: deployment/b",
    ]


def test_of_a_folder_the_manifests_are_read_and_with_r_those_of_its_folders(
    tmp_path: Path,
) -> None:
    wrong = an_object("Service", "evenkeel.dev/gang: 'true'")
    (tmp_path / "more").mkdir()
    for name in ("b.yml", "a.yaml", "c.txt", "more/d.json"):
        (tmp_path / name).write_text(wrong)

    def looked_at(*arguments: str) -> list[str]:
        lines = lint(str(tmp_path), *arguments).stdout.splitlines()
        return [line.removeprefix(f"{tmp_path}/").partition(":")[0] for line in lines]

    assert looked_at() == ["a.yaml", "b.yml"]
    assert looked_at("-R") == ["a.yaml", "b.yml", "more/d.json"]


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"a: [", "-: is no YAML (did not find expected node content at line 2)"),
        (b"kind: \xff", "-: is no text (invalid start byte at byte 6)"),
        (b"[" * 100_000, "-: is no manifest (it has more than 100 levels)"),
        (b"kind: Pod\nmetadata:\n  <<: 3", "expected a mapping or list of mappings for merging"),
        (b"", "there is no object in -: name files of manifests"),
        (b"replicas: 3", "there is no object in -: name files of manifests"),
    ],
)
def test_what_holds_no_manifest_is_an_error(content: bytes, error: str) -> None:
    done = lint("-", given=content)
    assert (done.exit_code, done.stdout) == (3, "")
    assert error in done.stderr


def test_a_file_that_cannot_be_read_keeps_no_other_from_being_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = an_object("Service", "evenkeel.dev/gang: 'true'")
    monkeypatch.chdir(tmp_path)
    done = lint("none.yaml", "-", given=wrong)

    assert done.stdout.startswith("-:6: service/web:")
    assert done.stderr == "error: none.yaml: cannot be read (No such file or directory)\n"
    assert done.exit_code == 3


def test_without_a_file_it_is_a_wrong_call() -> None:
    assert lint().exit_code == 2


def test_an_anchor_in_itself_ends() -> None:
    manifest = "kind: List\nitems: &b\n- kind: List\n  items: *b\n- &c {kind: Pod, spec: *c}\n"
    assert findings(manifest) == []


def test_names_cannot_steer_the_terminal() -> None:
    manifest = 'kind: Pod\nmetadata: {name: "a\\x1b[2J", labels: {evenkeel.dev/gang: "true"}}\n'
    (found,) = findings(manifest)
    assert "\x1b" not in found


def test_the_examples_of_the_documentation_are_right() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    blocks = [b for p in pages for b in re.findall(r"```yaml\n(.*?)```", p.read_text(), re.DOTALL)]
    ours = [block for block in blocks if block.startswith("metadata:")]

    assert len(ours) > 1
    assert [found for each in ours for found in findings(f"kind: Deployment\n{each}")] == []


SPREAD = """
apiVersion: apps/v1
kind: {kind}
metadata: {{name: web, labels: {{app: web}}}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template:
    spec:
      topologySpreadConstraints:
        - {constraint}
      containers: []
"""
EVEN = "maxSkew: 1, topologyKey: zone, labelSelector: {matchLabels: {app: web}}"
HARD = f"{EVEN}, whenUnsatisfiable: DoNotSchedule"


@pytest.mark.parametrize(
    ("kind", "constraint", "is_told"),
    [
        pytest.param("Deployment", f"{{{HARD}}}", True, id="it counts released pods"),
        pytest.param(
            "Deployment",
            f"{{{HARD}, matchLabelKeys: [pod-template-hash]}}",
            False,
            id="it goes by the hash",
        ),
        pytest.param(
            "Deployment", f"{{{EVEN}, whenUnsatisfiable: ScheduleAnyway}}", False, id="it is soft"
        ),
        pytest.param("Deployment", "{maxSkew: one}", False, id="it is none"),
        pytest.param("Deployment", "&a [*a]", False, id="it is in itself"),
        pytest.param("StatefulSet", f"{{{HARD}}}", False, id="its pods are not handed over"),
    ],
)
def test_a_hard_spread_that_a_drain_may_leave_uneven_is_remarked(
    kind: str, constraint: str, *, is_told: bool
) -> None:
    done = lint("-", given=SPREAD.format(kind=kind, constraint=constraint))
    assert (done.exit_code, done.stdout) == (0, "")
    remark = "-:10: deployment/web: unless the webhook places its pods, its hard spread over zone"
    assert done.stderr.startswith(remark) is is_told
    assert done.stderr.endswith("0 findings in 1 object\n")


def test_a_hard_spread_that_wants_several_domains_is_to_be_left() -> None:
    """What is advised of others would leave pods without a place while domains are drained."""
    for own in ("", ", nodeTaintsPolicy: Honor"):
        constraint = f"{{{HARD}, minDomains: 3{own}}}"
        done = lint("-", given=SPREAD.format(kind="Deployment", constraint=constraint))
        assert done.exit_code == 0
        remark = "-:10: deployment/web: its hard spread over zone wants 3 domains: while fewer"
        assert done.stderr.startswith(remark)
        assert "unless the webhook" not in done.stderr


@pytest.mark.parametrize(
    ("floor", "constraint", "is_told"),
    [
        pytest.param("2", HARD, True, id="a floor"),
        pytest.param("none", HARD, False, id="none"),
        pytest.param("two", HARD, False, id="it cannot be read"),
        pytest.param("2", f"{EVEN}, whenUnsatisfiable: ScheduleAnyway", False, id="it is soft"),
        pytest.param("2", HARD.replace("zone", names.EKS_CAPACITY), False, id="it is a ratio"),
    ],
)
def test_a_floor_beside_a_hard_spread_is_remarked(
    floor: str, constraint: str, *, is_told: bool
) -> None:
    text = SPREAD.format(kind="Deployment", constraint=f"{{{constraint}}}")
    noted = f"{{name: web, annotations: {{{names.ON_DEMAND}: '{floor}'}},"
    done = lint("-", given=text.replace("{name: web,", noted))
    assert ("its floor takes on-demand nodes in each of its domains" in done.stderr) is is_told


def test_a_spread_without_a_readable_selector_of_its_workload_is_passed_over() -> None:
    text = SPREAD.format(kind="Deployment", constraint=f"{{{HARD}}}")
    for selector in ("", "  selector: {matchLabels: 1}\n"):
        given = text.replace("  selector: {matchLabels: {app: web}}\n", selector)
        assert lint("-", given=given).stderr == "0 findings in 1 object\n"


FLOOR_OF_TWO = an_object("Deployment", "evenkeel.dev/on-demand: '2'", api="apps/v1")


@pytest.mark.parametrize(
    ("manifest", "told"),
    [
        (
            FLOOR_OF_TWO,
            [
                (
                    "1: deployment/web: its floor of 2 stands on the workload, which the policy"
                    " does not see: write evenkeel.dev/on-demand into its pod template"
                ),
                (
                    "1: deployment/web: a floor of 2 has to be counted, which the policy cannot:"
                    " all new pods prefer spot; write all or none, or evenkeel.dev/placement:"
                    " template"
                ),
            ],
        ),
        (a_template("StatefulSet", "evenkeel.dev/on-demand: majority"), []),
        (a_template("DaemonSet", "evenkeel.dev/handover: never"), None),
        (an_object("ConfigMap", "a: b"), []),
        ("kind: Deployment\napiVersion: apps/v1\nmetadata: 3\n", []),
    ],
)
def test_what_the_policy_cannot_tell_is_found_where_it_is_asked_for(
    manifest: str, told: list[str] | None
) -> None:
    without = findings(manifest)
    done = lint("--policy", "-", given=manifest)
    lines = [line.removeprefix("-:") for line in done.stdout.splitlines()]
    assert sorted(lines) == sorted(without if told is None else [*without, *told])
    assert done.exit_code == bool(lines)


def a_pod_of(kind: str, api: str, floor: str) -> str:
    """An object with a pod template, or a pod, that has a floor in line 8."""
    meta = f"metadata:\n      name: web\n      annotations:\n        {names.ON_DEMAND}: '{floor}'"
    if kind == "Pod":
        meta = meta.replace("\n    ", "\n").replace("metadata:", "\n\nmetadata:")
        return f"apiVersion: {api}\nkind: {kind}\n{meta}\nspec: {{containers: []}}\n"
    return (
        f"apiVersion: {api}\nkind: {kind}\nspec:\n  template:\n    {meta}\n"
        "    spec: {containers: []}\n"
    )


@pytest.mark.parametrize(
    ("kind", "api"),
    [
        ("Pod", "v1"),
        ("ReplicationController", "v1"),
        ("RayCluster", "ray.io/v1"),
        ("PyTorchJob", "kubeflow.org/v1"),
    ],
)
@pytest.mark.parametrize("floor", ["1", "30%", "majority", "all", "none"])
def test_a_floor_that_needs_a_size_is_refused_where_none_is_known(
    kind: str, api: str, floor: str
) -> None:
    (*_, found) = ["", *findings(a_pod_of(kind, api, floor))]
    assert ("write all or none" in found) == (floor not in ("all", "none"))


def test_what_a_kind_that_is_not_known_makes_is_left_to_its_owner() -> None:
    """Knative's Services make Deployments, which have a size."""
    done = lint("-", given=a_pod_of("Service", "serving.knative.dev/v1", "1"))
    assert (done.exit_code, done.stdout) == (0, "")
    assert "unless its pods are made by one that Evenkeel reads" in done.stderr
    nested = a_pod_of("Job", "batch/v1", "1").partition("spec:\n")[2].replace("\n", "\n    ")
    cron = f"apiVersion: batch/v1\nkind: CronJob\nspec:\n  jobTemplate:\n    spec:\n    {nested}"
    done = lint("-", given=f"{cron.rstrip()}\n")
    assert "0 findings in 1 object" in done.stderr
    assert "write all or none" not in done.stderr


@pytest.mark.parametrize(
    ("floor", "replicas", "told"),
    [
        (
            "30",
            "replicas: 3",
            "30 is more than its 3 replicas, and counts as all: did you mean 30%?",
        ),
        ("5", "parallelism: 3", "5 is more than its 3 replicas"),
        ("200", "replicas: 3", "200 is more than its 3 replicas, and counts as all\n"),
        ("3", "replicas: 3", ""),
        ("30%", "replicas: 3", ""),
        ("30", "replicas: many", ""),
        ("30", "paused: false", ""),
    ],
)
def test_a_floor_of_more_than_all_is_remarked(floor: str, replicas: str, told: str) -> None:
    """An autoscaler may make more of them."""
    kind = "Job" if "parallelism" in replicas else "Deployment"
    given = an_object(
        kind, f"{names.ON_DEMAND}: '{floor}'", api="apps/v1" if kind != "Job" else "batch/v1"
    )
    done = lint("-", given=given.replace("spec:\n", f"spec:\n  {replicas}\n", 1))
    assert done.exit_code == 0
    assert told in done.stderr
    assert ("is more than" in done.stderr) == bool(told)


def test_a_floor_beside_rules_that_exclude_on_demand_is_a_finding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spot = "nodeSelector: {example.com/life: cheap}\n      containers"
    given = an_object("Deployment", f"{names.ON_DEMAND}: '2'", api="apps/v1")
    given = given.replace("containers", spot)
    assert findings(given) == []
    monkeypatch.setenv("EVENKEEL_CAPACITY_LABELS", "example.com/life=cheap")
    (found,) = findings(given)
    assert "its own rules exclude on-demand, so evenkeel.dev/on-demand 2 is never kept" in found
    assert findings(given.replace("'2'", "none")) == []


APP = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: web}]
"""
LEADS = """\
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: front
  namespace: shop
  annotations: {alb.ingress.kubernetes.io/target-type: ip}
spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}
"""
HOME = """\
---
apiVersion: v1
kind: Namespace
metadata:
  name: shop
  labels: {elbv2.k8s.aws/pod-readiness-gate-inject: enabled}
  annotations: {evenkeel.dev/pre-stop-sleep: 5s}
"""


def test_pods_that_are_a_load_balancer_s_targets_are_worth_a_remark(tmp_path: Path) -> None:
    """What leads to them may stand in another file."""
    (tmp_path / "app.yaml").write_text(APP)
    (tmp_path / "leads.yaml").write_text(LEADS)
    done = lint(str(tmp_path))
    assert (done.stdout, done.exit_code) == ("", 0)
    gates, sleep, _ = done.stderr.splitlines()
    where = f"{tmp_path}/app.yaml:1: deployment/web: ingress shop/front makes its pods targets"
    assert gates.startswith(where)
    assert gates.endswith("enabled, or set minReadySeconds: 20")
    assert sleep.startswith(where)
    assert sleep.endswith("evenkeel.dev/pre-stop-sleep: 5s")


@pytest.mark.parametrize(
    "given",
    [
        APP + LEADS + HOME,
        APP,
        APP.replace("shop", "other") + LEADS,
        APP.replace("app: web", "app: [web]") + LEADS,
        APP.replace("metadata: {name: web,", "metadata: {ownerReferences: [], name: web,") + LEADS,
        APP.replace("  template:", "  minReadySeconds: 20\n  template:").replace(
            "image: web", "lifecycle: {preStop: {sleep: {seconds: 9}}}"
        )
        + LEADS,
    ],
    ids=["cared for", "alone", "elsewhere", "unreadable", "made", "waits"],
)
def test_no_such_remark_is_made_where_nothing_is_to_do_or_known(given: str) -> None:
    done = lint("-", given=given)
    assert "targets" not in done.stderr
    assert done.exit_code == 0
