"""Property tests here run the same examples each time, and however slow the machine is."""

from hypothesis import settings

settings.register_profile("arena", deadline=None, derandomize=True, database=None)
settings.load_profile("arena")
