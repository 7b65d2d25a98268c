"""The command in this process, and what it printed."""

import pytest

from evenkeel_cli.main import main
from tests.kit.reviews import TOKEN

URL = f"https://10.0.0.1:8443/v1/{TOKEN}"


def run(*arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    code = ended.value.code
    assert isinstance(code, int)
    told = capsys.readouterr()
    return code, told.out, told.err
