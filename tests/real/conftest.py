"""Real data sets that come in packages, each as four sources. Nothing is downloaded."""

from contextlib import ExitStack, closing
from functools import cache

import pytest

from .dataset import Sources
from .datasets import DATASETS


@pytest.fixture(scope="session")
def sources(tmp_path_factory):
    """Data sets by name, written when they are first asked for."""
    with ExitStack() as stack:

        @cache
        def opened(name):
            return stack.enter_context(closing(Sources(DATASETS[name], tmp_path_factory.mktemp(name))))

        yield opened
