"""``--watch``: what is shown when a command looks again and again."""

import io
import json
from collections.abc import Sequence
from datetime import timedelta

import pytest
import yaml
from rich.console import Console

from evenkeel.errors import UnavailableError
from evenkeel_cli import pausing
from evenkeel_cli.console import PlainConsole
from evenkeel_cli.following import REST, Seen, follow
from evenkeel_cli.nodes.listing import GONE, listing
from evenkeel_cli.nodes.looking import Looker
from evenkeel_cli.output import Output
from tests.kit.manifests import bare_pod, deployment
from tests.kit.scene import Scene
from tests.unit.cli.watching import Look, Watched, watch

PAINTED = "\x1b[2K"
"""What a picture begins with: the lines of the one before are erased."""


def nodes(scene: Scene) -> Look:
    looker = Looker(scene.cluster, scene.clock)

    def look() -> Seen:
        found = listing(looker.look())
        sentences = list(found.sentences(is_whole=True))
        return Seen(found, found.headline, found.told(), GONE, sentences)

    return look


def at_times(look: Look, answers: Sequence[bool], error: str) -> Look:
    """A look that is answered or fails, as these say."""
    each = iter(answers)

    def try_it() -> Seen:
        if next(each):
            return look()
        raise UnavailableError(error)

    return try_it


def terminal(width: int = 80, height: int = 24) -> Console:
    return PlainConsole(
        file=io.StringIO(),
        force_terminal=True,
        force_interactive=True,
        color_system=None,
        width=width,
        height=height,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        _environ={"TERM": "xterm"},
    )


def screens(console: Console) -> Sequence[str]:
    """Each picture that was painted."""
    assert isinstance(console.file, io.StringIO)
    painted = console.file.getvalue().replace("\x1b[1A", "").replace("\x1b[?25l", "")
    frames = painted.replace("\x1b[?25h", "").split(PAINTED)
    return [frame.strip("\r\n") for frame in frames if frame.strip("\r\n")]


@pytest.fixture
def storm(scene: Scene) -> Scene:
    """A node with two pods is interrupted, which have room elsewhere."""
    scene.given(deployment("web", 2), bare_pod("alone"), spare="o1", settle=15)
    scene.interrupt("s1").run(until=1.5)
    return scene


def test_in_a_pipe_each_change_is_a_line_with_the_time(
    storm: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    watch(storm, 70, nodes(storm))

    lines = capsys.readouterr().out.splitlines()
    end = "node/s1: interruption, ends 2026-11-21T12:02:55Z,"
    assert lines[0] == "2026-11-21T12:00:56Z pause: not paused"
    assert lines[1].startswith("2026-11-21T12:00:56Z lease: at work: evenkeel-")
    assert [line for line in lines if " node/" in line] == [
        f"2026-11-21T12:00:56Z {end} 3 pods left: 2 being replaced, 1 at the last moment",
        f"2026-11-21T12:00:58Z {end} 3 pods left: 2 told to go, 1 at the last moment",
        f"2026-11-21T12:01:00Z {end} 1 pod left: 1 at the last moment",
        f"2026-11-21T12:02:25Z {end} 0 pods left",
        "2026-11-21T12:03:05Z node/s1: not doomed any more",
    ]


def test_a_pause_is_told_when_it_begins_and_when_it_ends(
    storm: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    def pause() -> None:
        pausing.begin(storm.cluster, pausing.planned("ada@ops", storm.clock.now()))

    def resume() -> None:
        found = pausing.find(storm.cluster)
        assert found is not None
        pausing.end(storm.cluster, found)

    storm.later(5, pause)
    storm.later(9, resume)
    watch(storm, 8, nodes(storm))

    told = [line for line in capsys.readouterr().out.splitlines() if " pause: " in line]
    assert [line.partition(" pause: ")[2] for line in told] == [
        "not paused",
        "paused since 2026-11-21T12:01:00Z by ada@ops",
        "not paused",
    ]


def test_data_is_told_whole_where_something_is_new_and_else_not_at_all(
    storm: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    watch(storm, 70, nodes(storm), "json")

    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {each["kind"] for each in found} == {"DoomedNodeList"}
    pods = [[len(node["pods"]) for node in each["items"]] for each in found]
    assert list(dict.fromkeys(map(tuple, pods))) == [(3,), (1,), (0,), ()]
    assert len(found) < 15


def test_yaml_is_one_document_after_the_other(
    storm: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    watch(storm, 1, nodes(storm), "yaml")

    documents = list(yaml.safe_load_all(capsys.readouterr().out))
    assert [document["kind"] for document in documents] == ["DoomedNodeList"] * 2


def test_what_cannot_be_read_is_noted_once_and_what_comes_then_is_shown(
    storm: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    watch(storm, 4, at_times(nodes(storm), [True, False, False, True, False], "no\x1banswer"))

    told = capsys.readouterr()
    assert told.err == "note: nothing newer can be read: no\\x1banswer\n" * 2
    assert "1 pod left: 1 at the last moment" in told.out


def test_where_the_first_look_fails_the_command_does(storm: Scene) -> None:
    def look() -> Seen:
        raise UnavailableError("no answer")

    with pytest.raises(UnavailableError):
        follow(Output("table", terminal()), Watched(storm, 1), look)


def test_the_longer_a_look_takes_the_longer_is_the_pause_after_it(storm: Scene) -> None:
    look = nodes(storm)

    def slow() -> Seen:
        storm.clock.advance(timedelta(seconds=5))
        return look()

    for pause in watch(storm, 1, slow).pauses:
        assert pause.total_seconds() == pytest.approx(5 * REST, abs=0.1)
    assert watch(storm, 1, look).pauses == [timedelta(seconds=2)] * 2


def test_on_a_terminal_the_whole_is_painted_in_the_same_place(storm: Scene) -> None:
    console = terminal()
    watch(storm, 2, nodes(storm), console=console)

    first, *_, last = screens(console)
    lease = first.splitlines()[2]
    assert first.splitlines() == [
        "2026-11-21T12:00:56Z  1 node is doomed, 3 pods left: 2 being replaced, 1 at the",
        "  last moment.",
        lease,
        "",
        "NODE  NOTICE        LEFT  PODS  HOW",
        "s1    interruption  118s  3     2 being replaced, 1 at the last moment",
    ]
    assert last.splitlines() == [
        "2026-11-21T12:01:00Z  1 node is doomed, 1 pod left: 1 at the last moment.",
        "Nobody is at work now, last 4s ago: the next run goes on.",
        "",
        "NODE  NOTICE        LEFT  PODS  HOW",
        "s1    interruption  114s  1     1 at the last moment",
    ]


def test_a_picture_is_no_larger_than_the_terminal_and_says_how_much_more_there_is(
    scene: Scene,
) -> None:
    nodes_ = [f"node-{number:02}-of-a-fleet-with-long-names" for number in range(30)]
    scene.given(on=" ".join(nodes_))
    scene.interrupt(*nodes_).run(until=5)
    console = terminal()
    watch(scene, 0, nodes(scene), console=console)

    (screen,) = screens(console)[:1]
    lines = screen.splitlines()
    assert len(lines) == 23
    assert max(map(len, lines)) <= 80
    assert lines[0].endswith("30 nodes are doomed, no pod is left.")
    assert lines[-1] == "and 12 more"


def test_what_cannot_be_read_stands_above_the_last_picture(storm: Scene) -> None:
    look, console = nodes(storm), terminal()
    watch(storm, 1, at_times(look, [True, False], "no answer"), console=console)

    last = screens(console)[-1]
    assert last.startswith("nothing newer can be read: no answer\n2026-11-21T12:00:56Z  1 node")
