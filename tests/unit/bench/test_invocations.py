"""What Lambda would bill for a storm."""

from pathlib import Path

import msgspec

from bench.storm.invocations import Invocation, Invocations, read, total

SEEN = (
    Invocation(function="interruption", seconds=0.0101, handled=["a", "b"], failed=["c"]),
    Invocation(function="schedule", seconds=0.5),
    Invocation(function="interruption", seconds=0.002, handled=["c"]),
)


def test_each_invocation_is_billed_by_the_millisecond_begun() -> None:
    assert total(SEEN) == {
        "interruption": Invocations(count=2, billed_ms=11 + 2, longest_ms=11, handled=3, failed=1),
        "schedule": Invocations(count=1, billed_ms=500, longest_ms=500, handled=0, failed=0),
    }


def test_a_file_has_the_invocations_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "storm.invocations.log"
    path.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in SEEN))
    assert [each.seconds for each in read(path)] == [0.0101, 0.5, 0.002]
    assert total(read(path)) == total(SEEN)
