"""The command in this process, and what tests of several commands give it."""

from pathlib import Path

from click.testing import CliRunner, Result

from evenkeel_cli.main import main
from tests.kit.reviews import TOKEN

URL = f"https://10.0.0.1:8443/v1/{TOKEN}"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments)])
