"""What an observer has written so far."""

from pathlib import Path

import msgspec

from bench.storm.beside import Observed
from bench.storm.figures import Sight

NODES = frozenset({"s1"})


def line(uid: str, node: str = "s1", *, leaving: bool = False, gone: bool = False) -> bytes:
    sight = Sight(
        at=1.0,
        kind="pod",
        uid=uid,
        name=uid,
        app="web",
        node=node,
        ready=True,
        leaving=leaving,
        released=False,
        cordoned=False,
        gone=gone,
    )
    return msgspec.json.encode(sight) + b"\n"


def test_pods_told_to_go_are_counted_once_while_the_file_grows(tmp_path: Path) -> None:
    path = tmp_path / "sights.jsonl"
    path.write_bytes(line("a") + line("b", leaving=True))
    seen = Observed(path)
    assert seen.going(NODES) == 1
    with path.open("ab") as file:
        file.write(line("b", gone=True) + line("a", leaving=True) + line("x", "o1", leaving=True))
    assert seen.going(NODES) == 2


def test_a_line_that_is_half_written_is_read_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "sights.jsonl"
    whole = line("a", leaving=True)
    path.write_bytes(whole[:20])
    seen = Observed(path)
    assert seen.going(NODES) == 0
    path.write_bytes(whole)
    assert seen.going(NODES) == 1


def test_all_of_it_is_there_in_the_end(tmp_path: Path) -> None:
    path = tmp_path / "sights.jsonl"
    path.write_bytes(line("a") + line("b"))
    seen = Observed(path)
    seen.going(NODES)
    seen.end()
    assert [sight.uid for sight in seen.sights] == ["a", "b"]
