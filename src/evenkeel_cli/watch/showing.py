"""Showing screens: painted in place on a terminal, as a page, or as a line for each decision."""

from collections.abc import Iterable
from contextlib import ExitStack
from datetime import timedelta
from typing import Final

import click
import msgspec
from rich.console import Group
from rich.live import Live

from evenkeel.ports import Clock
from evenkeel_cli import console
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.output import Output
from evenkeel_cli.page import html
from evenkeel_cli.screen.views import Screen, ScreenList
from evenkeel_cli.visible import visible
from evenkeel_cli.watch import terminal
from evenkeel_cli.watch.serving import Board, served

LONG: Final = timedelta(hours=1)


def show(screens: Iterable[Screen], output: Output) -> None:
    """Show them one after the other, each in the place of the one before, or line by line."""
    out = output.console
    if not output.is_for_people:
        for screen in screens:
            output.dump(ScreenList(items=[screen]), is_one_of_many=True)
    elif console.can_show_live(out):
        with Live(console=out, auto_refresh=False) as live:
            for screen in screens:
                painted = terminal.lines(screen, out.width, out.height - 1)
                live.update(Group(*painted), refresh=True)
    else:
        tell(screens)


def tell(screens: Iterable[Screen]) -> None:
    """A line for each decision, and one for the whole where nodes begin to go or none does."""
    known, before = 0, None
    for screen in screens:
        begins = screen.begins or screen.at
        if screen.decided < known:
            known = 0
        news = screen.decided - known
        for said in reversed(screen.decisions[:news]):
            at = begins + timedelta(seconds=said.at)
            click.echo(visible(f"{at:%H:%M:%S} {said.text}"))
        if news > len(screen.decisions):
            click.echo(f"{screen.at:%H:%M:%S} and {news - len(screen.decisions)} decisions more")
        known = screen.decided
        if screen.calm is not before:
            click.echo(visible(f"{screen.at:%H:%M:%S} {screen.headline}"))
        before = screen.calm


def serve(screens: Iterable[Screen], port: int, clock: Clock) -> None:
    """Show them as a page on a port of this machine, until it is interrupted.

    Raises BadInputError where the port cannot be had.
    """
    board = Board()
    text = html.watched()
    with ExitStack() as stack:
        try:
            address = stack.enter_context(served(text, board, port))
        except OSError as error:
            raise BadInputError(f"--serve {port}: {error.strerror}: name another port") from error
        click.echo(f"{address} shows it, until Ctrl-C.")
        for screen in screens:
            board.put(msgspec.json.encode(screen))
        board.end()
        while True:
            clock.sleep(LONG)
