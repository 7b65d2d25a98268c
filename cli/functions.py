"""Loading the Lambda functions as Lambda loads them: the file app.py, the name ``handler``."""

import importlib.util
from pathlib import Path
from typing import Final

import functions
from cli.errors import UnmetError
from evenkeel.handlers import Lazy

FOLDER = Path(functions.__file__).parent

HANDOVERS: Final = 2
"""So many batches of wake-ups Lambda handles at once: MaximumConcurrency in template.yaml."""


def load(name: str, folder: Path = FOLDER) -> Lazy:
    """The handler of the function in the folder ``name``; every call loads a new one.

    Nothing connects yet: bind what it should do, or it would build a handler for AWS. Raises
    UnmetError where the file is not there.
    """
    path = folder / name / "app.py"
    spec = importlib.util.spec_from_file_location("app", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise UnmetError(f"the function {name} is not at {path}: run evenkeel from its checkout")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    handler = module.handler
    if not isinstance(handler, Lazy):
        raise UnmetError(f"{path} has no lazy handler: it is not the function that Lambda runs")
    return handler
