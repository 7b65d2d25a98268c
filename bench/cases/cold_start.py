"""Cold starts.

How long the functions take from nothing to ready for their first event, out of the built layer:
the import of the function's module and the assembly of its handler, each time in a process of its
own. In turn with it the bare imports of what the functions need of others, and the first clients
of EC2 and SQS, which a notice pays for later. 20 starts each; the times are medians.
"""

import subprocess
from collections.abc import Sequence
from statistics import median
from typing import Final

from bench.figure import Figure, Mark
from bench.lab.lab import Lab
from tests.kit.cold_start import BARE, CLIENTS, FUNCTIONS, START, start

NOTES: Final = ""
SIZES: Final = ("layer",)
RUNS: Final = 20
WANTED: Final = Mark(most=1.4)
"""What import and assembly may take, as a multiple of the bare imports."""
BUILDING: Final = 600


def measure(lab: Lab, size: str) -> Sequence[Figure]:
    """Start everything in turns; the first turn, from a cold disk, is not counted."""
    command = ["make", "--no-print-directory", size]
    subprocess.run(command, cwd=lab.tree, stdout=subprocess.DEVNULL, check=True, timeout=BUILDING)
    layer = lab.tree / ".aws-sam" / "layer" / "python"
    what = {name: (START, lab.tree / "functions" / name) for name in FUNCTIONS}
    what |= {"bare imports": (BARE, layer), "first clients": (CLIENTS, layer)}
    samples: dict[str, list[Sequence[float]]] = {name: [] for name in what}
    for turn in range(RUNS + 1):
        for name, (code, folder) in what.items():
            sample = start(layer, folder, code)
            if turn:
                samples[name].append(sample)
    bare = median(wall for wall, _, _ in samples["bare imports"])
    figures = []
    for name, found in samples.items():
        wall, cpu, _ = (median(each) for each in zip(*found, strict=True))
        figures += [
            Figure("wall clock", wall, "ms", of=name),
            Figure("CPU", cpu, "ms", of=name),
            Figure("memory, at most", max(each[2] for each in found), "MB", of=name),
        ]
        if name in FUNCTIONS:
            figures.append(Figure("of the bare imports", wall / bare, "x", WANTED, name))
        lab.say(f"{name}: {wall:.0f} ms, {cpu:.0f} ms of CPU")
    megabytes = sum(file.stat().st_size for file in layer.rglob("*")) / 1e6
    return [*figures, Figure("layer", megabytes, "MB", of="bare imports")]
