"""All data sets by name."""

from . import cars, fair, flights, rand_hie, surveys, wide

DATASETS = {module.DATASET.name: module.DATASET for module in (cars, fair, flights, rand_hie, surveys, wide)}
