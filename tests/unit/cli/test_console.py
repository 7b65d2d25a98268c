import io

import pytest
from rich.panel import Panel
from rich.text import Text

from evenkeel_cli import console


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


def test_what_is_trimmed_for_a_pipe_does_not_steer_it_either() -> None:
    out = console.standard_output()
    out.file = io.StringIO()

    console.print_trimmed(out, Text("x\x1b]0;pwn"))

    assert out.file.getvalue() == "x\\x1b]0;pwn\n"


def test_colours_are_still_shown_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    out = console.standard_output()
    out.file = io.StringIO()

    out.print(Text("x", "red"))

    assert "\x1b[31mx\x1b[0m" in out.file.getvalue()
