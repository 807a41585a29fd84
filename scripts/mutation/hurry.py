"""A plugin of pytest: a property that fails is not boiled down to its simplest case, which may take minutes."""

from hypothesis import Phase, settings

settings.register_profile("hurry", phases=[Phase.explicit, Phase.generate])
settings.load_profile("hurry")
