"""Commands over clusters shaped as some projects make them: no crash, and no two answers."""

from collections import Counter
from datetime import timedelta
from functools import cache
from io import BufferedReader, BytesIO
from pathlib import Path

import msgspec
import pytest

from evenkeel.model.capacity import WELL_KNOWN, Capacity
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel_cli import event_files, events
from evenkeel_cli import snapshot as snapshots
from evenkeel_cli.explain import gather as explaining
from evenkeel_cli.explain import lookup
from evenkeel_cli.simulate import trial
from evenkeel_cli.simulate.trial import Ground, Policy, Setting
from evenkeel_cli.status import gather as standing
from evenkeel_hosting.files import sample_events
from evenkeel_sandbox.events import Arriving, for_instance, freshened
from evenkeel_sandbox.recorded_cluster import RecordedCluster
from evenkeel_sandbox.simulation import Simulation, nodes_of
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.snapshot_cluster import build
from evenkeel_sandbox.storms.shapes import Share
from tests.kit.agreeing import differences
from tests.shapes.making import NOW
from tests.shapes.projects import PROJECTS, snapshot
from tests.unit.cli.running import run

EVERY = pytest.mark.parametrize("project", PROJECTS)
"""Each project in a cluster of its own."""

SECOND = timedelta(seconds=1)
SECONDS = 150
"""After so many a node is gone of which a warning came, and the object of it."""
EXPLAINED = {"Deployment", "StatefulSet", "Job", "ReplicaSet", "Pod", "Node"}


@cache
def read(*projects: str) -> snapshots.Snapshot:
    """A cluster's snapshot, as commands read it from a file."""
    text = msgspec.json.encode(snapshot(*projects))
    return snapshots.parse("made", BufferedReader(BytesIO(text)))


def of_kind[T](kind: type[T], *projects: str) -> list[T]:
    found = (each for each in read(*projects).objects if each["kind"] == kind.__name__)
    return [msgspec.convert(each, kind) for each in found]


@pytest.fixture
def file(project: str, tmp_path: Path) -> Path:
    """The project's snapshot in a file."""
    made = tmp_path / f"{project}.json"
    made.write_bytes(msgspec.json.encode(snapshot(project)))
    return made


@EVERY
def test_nothing_is_found_wrong_in_what_works(file: Path) -> None:
    done = run("lint", file)
    assert (done.stdout, done.exit_code) == ("", 0), done.stderr


@EVERY
def test_no_owner_is_said_to_be_missing(project: str) -> None:
    assert not [note for note in read(project).notes if note.startswith("it lacks")]


@EVERY
def test_status_counts_the_pods_that_are_listed(project: str) -> None:
    cluster = RecordedCluster(read(project).objects)
    capacities = {node.name: WELL_KNOWN.of(node) for node in of_kind(Node, project)}
    above = {each.key: each.controller_key for each in of_kind(ReplicaSet, project)}
    listed = Counter[tuple[str, Capacity | None]]()
    for pod in of_kind(Pod, project):
        if pod.active:
            owner = above.get(pod.origin_key, pod.origin_key)
            listed[owner, capacities.get(pod.spec.node_name)] += 1

    found = standing.gather(cluster, clock=SimulatedClock())

    for each in found.standings:
        key = each.workload.key
        assert each.on_demand == listed[key, Capacity.ON_DEMAND], each.workload.reference
        assert each.spot == listed[key, Capacity.SPOT], each.workload.reference
        assert each.waiting == listed[key, None], each.workload.reference


@pytest.mark.parametrize(
    ("project", "owner", "where"),
    [
        ("messages", "strimzipodset.core.strimzi.io/events-broker", "all"),
        ("databases", "cluster.postgresql.cnpg.io/orders", "all"),
        ("batches", "sparkapplication.sparkoperator.k8s.io/report", "all"),
        ("batches", "pod/report-driver", "all"),
        ("learning", "raycluster.ray.io/train", "none"),
    ],
)
def test_status_tells_of_pods_that_a_namespace_places_whoever_owns_them(
    project: str, owner: str, where: str
) -> None:
    found = standing.gather(RecordedCluster(read(project).objects), clock=SimulatedClock())
    (told,) = (each for each in found.others if each.startswith(f"{project}/{owner}: "))
    assert f"the floor {where} (namespace) places its new pods; now" in told


def test_status_tells_of_another_owner_what_its_floor_lacks_a_size_for() -> None:
    found = standing.gather(RecordedCluster(read("kruise").objects), clock=SimulatedClock())
    assert found.others
    assert all("whose number is not known: write all or none" in told for told in found.others)


@EVERY
def test_explain_takes_every_name_that_status_prints(project: str, file: Path) -> None:
    cluster = RecordedCluster(read(project).objects)
    done = run("status", "--snapshot", file, "-o", "name")
    assert done.exit_code == 0, done.output
    named = done.stdout.split()
    assert len(named) == sum(
        each["kind"] in ("Deployment", "StatefulSet") for each in read(project).objects
    )
    for name in named:
        found = lookup.find(cluster, lookup.parse(name, ""))
        namespace, _, plain = name.partition("/")
        assert lookup.find(cluster, lookup.parse(plain, namespace)) == found


@EVERY
def test_each_object_is_explained_and_its_pods_are_those_of_status(project: str) -> None:
    cluster = RecordedCluster(read(project).objects)
    statuses = {
        each.workload.reference: each.on_demand + each.spot + each.waiting
        for each in standing.gather(cluster, clock=SimulatedClock()).standings
    }
    for each in read(project).objects:
        if each["kind"] not in EXPLAINED:
            continue
        metadata = each["metadata"]
        where = [metadata["namespace"]] if "namespace" in metadata else []
        text = "/".join([*where, each["kind"], metadata["name"]])
        subject = lookup.find(cluster, lookup.parse(text, ""))
        told = explaining.answer(cluster, subject)
        if subject.reference in statuses:
            counted = sum(course.pods for course in told.on_interruption_warning)
            assert counted == statuses[subject.reference], text


@cache
def sample() -> Arriving:
    """A warning that an instance is taken back."""
    paths = {path.stem: str(path) for path in sample_events()}
    found, *_ = events.understand(event_files.read_all([paths["interruption-warning-terminate"]]))
    return found[0]


def take(simulation: Simulation, node: Node) -> None:
    """EC2 warns of a node's end, and takes its instance."""
    arriving = for_instance(sample(), node.instance_id, f"of-{node.name}")
    simulation.send(freshened(arriving, simulation.clock.now()))


@EVERY
@pytest.mark.nightly
def test_an_observer_counts_what_is_listed_while_each_node_goes(project: str) -> None:
    """One after the other, so that the replacements' nodes go, too."""
    clock = SimulatedClock(NOW + timedelta(minutes=1))
    simulation = Simulation(clock, build(read(project).objects, clock))
    cluster, observer, lost = simulation.cluster, simulation.observer, simulation.ec2.lost_nodes
    try:
        for node in nodes_of(cluster):
            take(simulation, node)
            for _ in range(SECONDS):
                simulation.advance(SECOND)
                assert not differences(observer, cluster, lost), f"{node.name}, {clock.now()}"
        assert not simulation.application.errors
    finally:
        simulation.close()


SETTING = Setting(
    shape=Share(1.0, timedelta(seconds=180)), policy=Policy.EVENKEEL, labels=WELL_KNOWN
)


@EVERY
def test_a_storm_over_all_spot_nodes_leaves_no_workload_at_zero_for_long(project: str) -> None:
    ground = Ground.of(read(project).objects)
    found = trial.run(ground, SETTING, 0)
    assert all(dip.recovered for dip in found.dips), found.dips
    # The longest start that the shapes' pods tell of, and a StatefulSet's volume to come.
    assert all(dip.at_zero <= 180 for dip in found.dips), found.dips
