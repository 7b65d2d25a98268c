"""How much hypothesis tries: ``check`` all day, others with --hypothesis-profile.

``wide`` is what mutations are tried with, ``deep`` tries other examples each time.
"""

import pytest
from hypothesis import HealthCheck, Phase, settings

SHARED = settings(
    deadline=None,  # a story takes as long as it has moves
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
SAME = settings(
    SHARED,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
)
settings.register_profile("check", SAME, max_examples=10)
settings.register_profile("wide", SAME, max_examples=30)
settings.register_profile("deep", SHARED, max_examples=600)


def pytest_configure(config: pytest.Config) -> None:
    """Take the profile of all days, unless another was asked for."""
    if not config.getoption("--hypothesis-profile"):
        settings.load_profile("check")
