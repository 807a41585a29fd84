"""What the owner of the hospital's data would write."""

EPSILON = 3.0
DELTA = 1e-6

CATALOG = """\
# What hedgerow protects in this hospital, and how much may be learnt about it.
# The bounds below are common knowledge about hospitals; nobody looked at the data to find them.
dataset: hospital
budget:
  epsilon: {epsilon:g}               # how much all answers together may reveal about any one patient
  delta: {delta:g}             # the probability that they reveal more
  pure_epsilon: 0          # nothing kept for Laplace noise: this data will be asked many questions
  ledger: "{ledger}"  # the ledger's id: without that ledger nothing is answered
defaults:                  # used when a query does not say
  epsilon: 0.2
  delta: 1e-8
  min_frequency: 10        # no group of fewer than ten patients is ever shown
tables:
  patients:
    unit: id               # whom we protect: one patient, with everything that is known about them
    unit_unique: true      # one row each; the database enforces it (PRIMARY KEY)
    columns:
      age: {{lower: 0, upper: 105}}
      region: {{values: [north, south, east, west, islands]}}  # public: these groups always appear
  visits:
    unit: patient_id       # a visit belongs to the patient, not to itself
    max_rows: 20           # a patient counts like at most twenty visits in all,
    max_rows_per_group: 12 # twelve in one group of an answer,
    max_groups: 6          # and helps to show at most six groups
    columns:
      nights: {{lower: 0, upper: 30}}
      cost: {{lower: 0, upper: 10000}}  # a dearer visit counts as 10 000
  wards:
    public: true           # about nobody: exact and free
  regions:
    public: true
"""


def catalog_text(ledger: str) -> str:
    """The catalog, naming the ledger that belongs to it."""
    return CATALOG.format(epsilon=EPSILON, delta=DELTA, ledger=ledger)
