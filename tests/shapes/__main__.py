"""Write the snapshots to a folder, to try commands on: ``python -m tests.shapes FOLDER``."""

import json
import sys
from pathlib import Path

from tests.shapes.projects import PROJECTS, snapshot

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for name, projects in {**{each: [each] for each in PROJECTS}, "all": [*PROJECTS]}.items():
    (folder / f"{name}.json").write_text(json.dumps(snapshot(*projects), indent=1))
