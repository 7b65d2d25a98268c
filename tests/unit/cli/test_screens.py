"""What people see: whole screens of a terminal and of a pipe, kept in ``kept/``.

``python -m tests.unit.cli.screens --keep`` writes them anew.
"""

import re

import pytest

from evenkeel_cli.groups import COMMANDS
from tests.unit.cli.screens import KEPT, SETTINGS, scenes

WITHOUT = {
    *("completion", "scheduler-config", "webhook-config"),
    *("demo", "lint", "report", "simulate", "version", "watch"),
    *("poll", "serve"),
    *("rotate-token", "upgrade"),
}
"""Commands that no screen shows. Most have tests of their own output; some never end."""

NOT_NOW = dict.fromkeys(("80x24-coloured", "200x50"), pytest.mark.nightly)
"""They differ from others by colours and width alone."""


@pytest.mark.parametrize(
    "setting", [pytest.param(each, marks=NOT_NOW.get(each, ())) for each in SETTINGS]
)
def test_each_command_shows_what_was_looked_at_and_kept(setting: str) -> None:
    kept = (KEPT / f"{setting}.txt").read_text()
    assert SETTINGS[setting].screen().splitlines() == kept.splitlines()


def test_the_table_of_a_narrow_terminal_fits_into_it() -> None:
    kept = scenes((KEPT / "80x24.txt").read_text())
    for command, screen in kept.items():
        if not any(f"-o {form}" in command for form in ("wide", "json", "yaml")):
            assert max(map(len, screen.splitlines())) <= 80, command


def test_colours_change_nothing_but_colours() -> None:
    coloured = (KEPT / "80x24-coloured.txt").read_text()
    assert "\\e[31mno" in coloured
    assert re.sub(r"\\e\[[0-9;]*m", "", coloured) == (KEPT / "80x24.txt").read_text()


@pytest.mark.parametrize("setting", ["80x24", "200x50", "pipe"])
def test_no_colour_is_shown_where_none_is_wanted(setting: str) -> None:
    assert "\\e" not in (KEPT / f"{setting}.txt").read_text()


def test_each_command_is_on_a_screen_or_needs_none() -> None:
    shown = {command.split()[0] for command in scenes((KEPT / "pipe.txt").read_text()) if command}
    assert shown | WITHOUT >= set(COMMANDS), "screens.py lacks a line"
    assert not shown & WITHOUT
