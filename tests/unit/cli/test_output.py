"""What programs get of a result: an envelope, as JSON or YAML, and names."""

import importlib
import json
import pkgutil
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import ClassVar

import jsonschema
import msgspec
import pytest
import yaml
from click.testing import CliRunner
from rich.console import Console

import evenkeel_cli
from evenkeel.model.meta import Reference
from evenkeel_cli import kinds
from evenkeel_cli.columns import Column, Columns
from evenkeel_cli.decisions import draining
from evenkeel_cli.draining.pods import StayedPod, StayedPodList
from evenkeel_cli.main import main
from evenkeel_cli.output import NAMESPACE, WORKLOAD, Listing, ObjectItem, Output
from evenkeel_cli.retry_on_conflict import change
from evenkeel_sandbox.built_in import cluster as built_in
from evenkeel_sandbox.simulation import nodes_of
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.kit.api_server import serving
from tests.kit.builders import NOW
from tests.unit.cli import screens

SCHEMA = Path(__file__).resolve().parents[3] / "docs" / "reference" / "output.schema.json"


class Pet(ObjectItem, frozen=True, kw_only=True):
    owner_name: str = ""


class PetList(Listing, frozen=True, kw_only=True):
    columns: ClassVar[Columns[Pet]] = (NAMESPACE, WORKLOAD, Column("OWNER", lambda p: p.owner_name))

    items: Sequence[Pet]


REX = Pet(subject=Reference(kind="Deployment", namespace="dogs", name="rex"), owner_name="ada")
TOM = Pet(subject=Reference(kind="Pod", namespace="cats", name="tom"), owner_name="x\x9b2J\x1b[")


def shown(form: str, *items: Pet, namespace: str = "", sentences: Sequence[str] = ()) -> str:
    console = Console(width=20)
    with console.capture() as capture:
        Output(form, console).show(PetList(items=items), sentences, namespace=namespace)
    return capture.get()


def test_a_pipe_gets_whole_rows_and_whole_sentences_below_them() -> None:
    sentence = "A sentence that is longer than twenty letters."
    assert shown("table", REX, sentences=[sentence, "Another."]).splitlines() == [
        "NAMESPACE  WORKLOAD    OWNER",
        "dogs       deploy/rex  ada",
        "",
        sentence,
        "Another.",
    ]


def test_the_namespace_has_no_column_where_only_one_is_shown() -> None:
    assert shown("table", REX, namespace="dogs").splitlines()[0] == "WORKLOAD    OWNER"


def test_a_headline_stands_above_and_without_a_row_there_is_no_table() -> None:
    console = Console(width=20)
    for items, lines in (([REX], ["Dogs.", "", "NAMESPACE"]), ([], ["Dogs.", "One."])):
        with console.capture() as capture:
            Output("table", console).show(PetList(items=items), ["One."], headline="Dogs.")
        shown_ = capture.get().splitlines()
        assert [line.split(" ")[0] for line in shown_[: len(lines)]] == lines


def test_all_that_people_are_told_a_program_is_told_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    output = Output("json", Console())
    output.say("Before.")
    output.say()
    output.show(PetList(items=[REX]), ["Below."], headline="Above.")
    assert json.loads(capsys.readouterr().out)["summary"] == ["Before.", "Above.", "Below."]
    output.show(PetList(items=[REX]))
    assert json.loads(capsys.readouterr().out)["summary"] == []


def test_a_program_gets_an_envelope(capsys: pytest.CaptureFixture[str]) -> None:
    shown("json", REX)
    as_json = json.loads(capsys.readouterr().out)
    shown("yaml", REX)
    as_yaml = yaml.safe_load(capsys.readouterr().out)
    assert as_json == as_yaml
    assert as_json == {
        "apiVersion": "evenkeel.dev/v1",
        "kind": "PetList",
        "items": [
            {
                "subject": {"kind": "Deployment", "namespace": "dogs", "name": "rex"},
                "ownerName": "ada",
            }
        ],
        "summary": [],
    }


def test_names_are_those_of_kubectl_where_one_namespace_is_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown("name", REX, namespace="dogs")
    assert capsys.readouterr().out == "deployment.apps/rex\n"


def test_names_begin_with_their_namespaces_where_several_may_be_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown("name", REX, TOM)
    assert capsys.readouterr().out == "dogs/deployment.apps/rex\ncats/pod/tom\n"


@pytest.mark.parametrize("form", ["json", "yaml", "table"])
def test_no_value_steers_the_terminal(capsys: pytest.CaptureFixture[str], form: str) -> None:
    printed = shown(form, TOM) + capsys.readouterr().out
    assert "tom" in printed
    assert not {char for char in printed if ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0} - {"\n"}


def test_every_kind_that_the_commands_have_is_in_the_schema() -> None:
    for module in pkgutil.walk_packages(evenkeel_cli.__path__, "evenkeel_cli."):
        importlib.import_module(module.name)
    ours = {each for each in Listing.__subclasses__() if each.__module__.startswith("evenkeel_cli")}
    assert ours == set(kinds.KINDS)


PRINTED = {
    "cancel ip-10-0-64-67": "DecisionList",
    "demo": "DemoResultList",
    "doctor --kubeconfig kubeconfig": "FindingList",
    "drain ip-10-0-64-67": "PlannedMoveList",
    "explain --built-in deploy/web": "ExplanationList",
    "explain --built-in ip-10-0-64-67": "ExplanationList",
    "history --from storm.jsonl": "WorkloadHistoryList",
    "history deploy/chat --from storm.jsonl": "PodHistoryList",
    "install --cluster-name prod": "StepStateList",
    "nodes --snapshot storm.json": "DoomedNodeList",
    "pause": "PauseList",
    "replay --sample interruption-warning-terminate": "ReplayResultList",
    "replay warning.json --context prod": "ReplayPlanList",
    "restore --built-in -n shop": "RestoreDayList",
    "restore --context prod -n shop": "WorkloadRestoreList",
    "simulate --synthetic 6x12 --seeds 1 --policy delete": "WorkloadRiskList",
    "status --built-in --cost": "WorkloadCostList",
    "status --built-in": "WorkloadStatusList",
    "version": "ComponentList",
    "watch --decisions storm.jsonl --speed 100000": "ScreenList",
}


@pytest.fixture(scope="module")
def drained() -> SimulatedCluster:
    """A cluster of which a node is drained; no command that is named above changes it."""
    cluster = built_in.build(SimulatedClock(NOW))
    (node,) = (n for n in nodes_of(cluster) if n.name.startswith("ip-10-0-64-67."))
    begin = partial(draining.begin, until=NOW + timedelta(hours=1), now=NOW, drain_id="drain-1")
    change(cluster, node.name, begin, act=True)
    return cluster


@pytest.fixture
def somewhere(
    drained: SimulatedCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """A folder with the files that are named above, beside that cluster."""
    monkeypatch.chdir(tmp_path)
    with serving() as server:
        screens.write_files(server)
        screens.stand_in(monkeypatch, drained, drained.clock)
        screens.stand_in_for_aws(monkeypatch)
        yield


@pytest.mark.usefixtures("somewhere")
@pytest.mark.parametrize("command", PRINTED)
def test_what_a_command_prints_is_as_the_schema_says(command: str) -> None:
    printed = CliRunner().invoke(main, [*command.split(), "-o", "json"])
    found, _ = json.JSONDecoder().raw_decode(printed.stdout)
    assert found["kind"] == PRINTED[command]
    assert found["items"]
    jsonschema.validate(found, json.loads(SCHEMA.read_text()))


def test_pods_that_stayed_are_printed_as_the_schema_says() -> None:
    """The one kind that is printed only when a drain is over."""
    stayed = StayedPod(subject=TOM.subject, node="ip-10-0-0-1", why="it is bare", remedy="")
    jsonschema.validate(
        json.loads(msgspec.json.encode(StayedPodList(items=[stayed]))),
        json.loads(SCHEMA.read_text()),
    )
    assert {each.__name__ for each in kinds.KINDS} == {*PRINTED.values(), "StayedPodList"}
