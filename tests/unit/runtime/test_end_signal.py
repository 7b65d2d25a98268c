"""A process that works until it is asked to end hears it in any thread that the signal reaches."""

import signal
import subprocess
import sys

import pytest

from evenkeel_runtime.end_signal import EndSignal

PROGRAM = """
import signal, sys, threading, time
from evenkeel_runtime.end_signal import EndSignal

end = EndSignal()

def reached():
    time.sleep(0.2)  # the main thread sleeps by then
    signal.pthread_kill(threading.get_ident(), signal.Signals[sys.argv[1]])
    time.sleep(30)

threading.Thread(target=reached, daemon=True).start()
end.wait(lambda: True)
print("ended")
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_that_reaches_another_thread_is_heard(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, name],
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    assert done.stdout == "ended\n"


def test_a_process_that_is_not_well_waits_for_nobody() -> None:
    before = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)}
    states = iter([True, False])
    try:
        assert not EndSignal().wait(lambda: next(states))
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
