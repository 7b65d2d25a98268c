from pathlib import Path

from bench.report import snapshot as report
from bench.snapshot.results import Reading, Taken
from bench.snapshot.writing import write
from evenkeel_cli import snapshot
from tests.unit.bench.made import CONDITIONS


def test_a_written_snapshot_is_read_with_all_its_pods(tmp_path: Path) -> None:
    file = tmp_path / "snapshot.json"

    write(file, 300)

    pods = [each for each in snapshot.read(str(file)).objects if each["kind"] == "Pod"]
    assert len(pods) == 300
    assert file.stat().st_size > 300 * 6_000


def test_a_command_that_takes_too_much_is_missed() -> None:
    taken = [
        Taken(command="reading alone", seconds=8, cpu=7.5, peak_mb=500),
        Taken(command="evenkeel status", seconds=21, cpu=20, peak_mb=1100),
    ]
    reading = Reading(conditions=CONDITIONS, pods=150_000, megabytes=1220, taken=taken)

    assert reading.missed == [
        "evenkeel status: 21 s, wanted at most 20",
        "evenkeel status: 1100 MB, wanted at most 1024",
    ]
    assert "| evenkeel status | 21.0 s | 20.0 s | 1100 MB |" in report.table(reading)
