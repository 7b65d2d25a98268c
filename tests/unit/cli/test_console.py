import io

import pytest
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from evenkeel_cli import console
from evenkeel_cli.visible import visible


@pytest.mark.parametrize("wrapped", [False, True])
def test_no_text_steers_the_terminal(capsys: pytest.CaptureFixture[str], *, wrapped: bool) -> None:
    """Names and messages come from objects that strangers made."""
    text = Text("x\x1b]0;pwn\x07y\x9b2Jz\r")
    out = console.standard_output()
    out.file = io.StringIO()

    out.print(Panel(text) if wrapped else text)

    printed = out.file.getvalue()
    assert "\\x1b]0;pwn" in printed
    assert not {char for char in printed if ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0} - {"\n"}
    assert not capsys.readouterr().out


def test_no_text_looks_like_another_one() -> None:
    """Turned order, half a character, and what only looks like the end of a line."""
    assert visible("safe\u202eexe\u2066\u200b\ufeff") == "safe\\u202eexe\\u2066\\u200b\\ufeff"
    assert visible("\u2028\u2029\ud800\U000e0001") == "\\u2028\\u2029\\ud800\\U000e0001"
    assert visible("ü 東\u00a0\n\t") == "ü 東\u00a0\n\t"


@pytest.mark.parametrize("variable", ["NO_COLOR", "TERM"])
def test_nothing_is_bold_or_coloured_where_that_is_not_wanted(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv(variable, "dumb")
    out = console.standard_output()
    out.file = io.StringIO()

    out.print(Text("x", "bold red"))

    assert out.file.getvalue() == "x\n"


def test_a_text_is_whole_in_a_pipe_and_ends_at_spaces_on_a_terminal() -> None:
    text = "evenkeel.dev/on-demand: one word that is longer than the line"
    pipe, terminal = (Console(width=20, force_terminal=is_one) for is_one in (False, True))
    assert console.wrapped(pipe, text, 2) == [text]
    assert console.wrapped(terminal, text, 2) == [
        "evenkeel.dev/on-demand:",
        "  one word that is",
        "  longer than the",
        "  line",
    ]
    assert console.wrapped(terminal, "") == [""]
    assert console.wrapped(pipe, "a\nb") == console.wrapped(terminal, "a\nb") == ["a b"]
