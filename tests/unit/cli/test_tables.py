import json

import pytest
import yaml
from rich.console import Console

from evenkeel_cli.tables import Cell, Column, Table, dump

TABLE = Table(
    (
        Column(key="name", title="NAME"),
        Column(key="pods", title="PODS", right=True),
        Column(key="why", title="WHY", wraps=True),
        Column(key="more", title="MORE", wide=True),
    ),
    [
        (Cell("web"), Cell("12", "green", 12), Cell("its replacement ran first"), Cell("a")),
        (Cell("a" * 30), Cell("3", value=3), Cell("short"), Cell("b")),
    ],
)


def printed(*, wide: bool = False, width: int = 60, terminal: bool = False) -> str:
    console = Console(
        width=width,
        force_terminal=terminal,
        color_system="standard" if terminal else None,
    )
    with console.capture() as capture:
        TABLE.show(console, wide=wide)
    return capture.get()


def test_a_table_is_plain_and_fits_when_it_is_piped() -> None:
    lines = printed().splitlines()

    assert lines == [
        "NAME                            PODS  WHY",
        "web                               12  its replacement ran",
        "                                      first",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa     3  short",
    ]


def test_a_table_has_colours_when_it_is_on_a_terminal() -> None:
    assert "\x1b[32m" in printed(terminal=True)


def test_no_name_is_cut_off_when_a_pipe_is_too_narrow() -> None:
    assert "a" * 30 in printed(width=20)


def test_nothing_gives_way_when_it_is_wide() -> None:
    lines = printed(wide=True).splitlines()

    assert lines[0].split() == ["NAME", "PODS", "WHY", "MORE"]
    assert lines[1].endswith("its replacement ran first  a")
    assert len(lines) == 3


@pytest.mark.parametrize("output", ["json", "yaml"])
def test_no_value_steers_the_terminal(capsys: pytest.CaptureFixture[str], output: str) -> None:
    dump([{"why": "x\x1b]0;owned\x07\x9b2J\x85"}], output)
    printed = capsys.readouterr().out
    assert "owned" in printed
    assert not {char for char in printed if ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0} - {"\n"}


def test_values_are_told_as_they_are_when_a_program_reads_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    dump(TABLE.data(), "json")
    as_json = json.loads(capsys.readouterr().out)
    dump(TABLE.data(), "yaml")
    as_yaml = yaml.safe_load(capsys.readouterr().out)

    assert as_json == as_yaml
    assert as_json[0] == {
        "name": "web",
        "pods": 12,
        "why": "its replacement ran first",
        "more": "a",
    }
