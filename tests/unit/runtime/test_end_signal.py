"""A process that works until it is asked to end hears it in any thread that the signal reaches."""

import subprocess
import sys

import pytest

PROGRAM = """
import signal, sys, threading, time
from evenkeel_runtime.end_signal import EndSignal

end = EndSignal()

def reached():
    time.sleep(0.2)  # the main thread sleeps by then
    signal.pthread_kill(threading.get_ident(), signal.Signals[sys.argv[1]])
    time.sleep(30)

threading.Thread(target=reached, daemon=True).start()
end.wait()
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
