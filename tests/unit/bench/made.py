"""What results of tests were measured on."""

from bench.conditions import Conditions

CONDITIONS = Conditions(
    commit="1a2b3c4",
    kubernetes="1.36.3",
    cpus=2,
    model="x",
    memory_gib=24,
    system="Linux",
    python="3.13.0",
    load=1.0,
)
