"""Plans of a year: the smallest budget, prices fitted to one, and plan files."""

from fractions import Fraction
from itertools import count

import pytest

import hedgerow as hr
from hedgerow.accounting.budget import Cost, Spending
from hedgerow.ledger.limits import caps_for
from hedgerow.session.planning import PlannedReport, granted_cost, read_plan, smallest_budget

MONTHLY = hr.Report.parse(
    "SELECT region, COUNT(*) AS n FROM customers GROUP BY region; SELECT COUNT(*) AS n FROM customers"
)
YEARLY = hr.Report.parse("SELECT AVG(income) AS mean FROM customers")


@pytest.fixture
def shop(tmp_path):
    """A table of customers, without a row: a plan reads none."""
    import duckdb  # noqa: PLC0415 - the owner's

    with duckdb.connect(str(tmp_path / "shop.duckdb")) as owner:
        owner.execute("CREATE TABLE customers (id BIGINT PRIMARY KEY, region VARCHAR, income DOUBLE)")
    (tmp_path / "shop.yaml").write_text(
        "dataset: shop\nbudget: {epsilon: 3, delta: 1e-6, pure_epsilon: 1}\ndefaults: {epsilon: 0.5, delta: 1e-8}\n"
        "tables:\n  customers:\n    unit: id\n    unit_unique: true\n"
        "    columns: {income: {lower: 0, upper: 100000}, region: {values: [north, south]}}\n"
    )
    with hr.connect(str(tmp_path / "shop.duckdb"), catalog=str(tmp_path / "shop.yaml")) as db:
        yield db


@pytest.mark.parametrize(("gaussian", "pure", "mass"), [("0.3", "0", "1e-8"), ("0.01", "0.7", "0"), ("2", "0", "1e-6")])
def test_the_smallest_budget_carries_the_cost_and_a_smaller_one_does_not(gaussian, pure, mass):
    total = Cost(Fraction(gaussian), Fraction(pure), Fraction(mass))
    budget, kept = smallest_budget(total, 1e-6)
    caps = granted_cost(budget, kept)
    assert (caps.gaussian >= total.gaussian, caps.pure >= total.pure, caps.mass >= total.mass) == (True, True, True)
    assert granted_cost(Spending(budget.epsilon * 0.999, budget.delta), kept).gaussian < total.gaussian
    assert budget.delta >= 1e-6


def test_a_plan_adds_up_what_the_ledger_would_be_charged(shop):
    plan = shop.plan([PlannedReport("monthly", MONTHLY, 12, 0.2), PlannedReport("yearly", YEARLY, 1, 0.5)])
    policy = caps_for(3.0, 1e-6, 1.0).cost
    spent = sum(one.times * one.cost.gaussian for one in plan.reports)
    assert plan.share == pytest.approx(float(spent / policy.gaussian), rel=1e-6)
    assert plan.fits
    assert plan.needed.epsilon < 12 * 0.2 + 0.5
    assert shop.budget.queries == 0
    assert "The plan needs a budget of epsilon" in str(plan)
    assert plan.to_dict()["reports"][0]["errors"]["query_1"]["n"]["1000"] > 0


def test_fitted_prices_use_up_the_budget_and_errors_fall_with_it(shop):
    reports = [PlannedReport("monthly", MONTHLY, 52, 0.2), PlannedReport("yearly", YEARLY, 2, 0.5)]
    small, large = (shop.plan(reports, budget=(epsilon, 1e-6), fit=True) for epsilon in (1.0, 4.0))
    for plan in (small, large):
        assert 0.95 < plan.share <= 1.0
        assert plan.needed.epsilon <= plan.budget.epsilon * (1 + 1e-6)
        ratio = plan.reports[0].charge.epsilon / plan.reports[1].charge.epsilon
        assert ratio == pytest.approx(0.4, rel=1e-6)
    assert large.reports[0].errors["query_1"]["n"][1000] < small.reports[0].errors["query_1"]["n"][1000]


def test_a_plan_that_does_not_fit_says_so(shop):
    plan = shop.plan([PlannedReport("daily", MONTHLY, 3650, 1.0)])
    assert not plan.fits
    assert "does not cover it" in plan.caption


def test_a_plan_says_that_a_budget_is_granted_anew(build):
    """Reports of other periods are compared with the same budget: the plan of a year is not that of a month."""
    table = "customers: {unit: id, unit_unique: true}"
    statements = ["CREATE TABLE customers (id BIGINT PRIMARY KEY)"]
    queries = hr.Report.parse("SELECT COUNT(*) AS n FROM customers")
    plans = [
        build(statements, table, budget=f"{{epsilon: 3, delta: 1e-6{refresh}}}").plan([PlannedReport("n", queries, 12)])
        for refresh in ("", ", refresh: 30d")
    ]
    assert ["grants its budget anew every 30 days" in plan.caption for plan in plans] == [False, True]
    assert [plan.to_dict()["refresh"] for plan in plans] == [None, 30 * 86400]


@pytest.mark.parametrize(
    ("budget", "code"),
    [
        ((0, 1e-6), "bad-epsilon"),
        ((-1.0, 1e-6), "bad-epsilon"),
        ((float("nan"), 1e-6), "bad-epsilon"),
        ((float("inf"), 1e-6), "bad-epsilon"),
        (("3", 1e-6), "bad-epsilon"),
        ((3.0, 0.0), "bad-delta"),
        ((3.0,), "parameter-pair"),
        (3.0, "parameter-pair"),
    ],
)
def test_a_budget_that_cannot_be_is_refused(shop, budget, code):
    for fit in (False, True):
        with pytest.raises(hr.ParameterError) as refused:
            shop.plan([PlannedReport("monthly", MONTHLY, 12, 0.2)], budget=budget, fit=fit)
        assert refused.value.code == code


def test_a_plan_file_is_read(tmp_path, shop):
    (tmp_path / "monthly.sql").write_text("SELECT COUNT(*) AS n FROM customers")
    (tmp_path / "year.toml").write_text('[[report]]\nfile = "monthly.sql"\ntimes = 12\nepsilon = 0.1\n')
    [planned] = read_plan(tmp_path / "year.toml")
    assert (planned.name, planned.times, planned.epsilon) == ("monthly", 12, 0.1)
    assert shop.plan(tmp_path / "year.toml").reports[0].times == 12


@pytest.mark.parametrize(
    "text",
    [
        "",
        "report = 3",
        "[[report]]\ntimes = 3",
        '[[report]]\nfile = "m.sql"\ntimes = 0',
        "not toml [",
        '[[report]]\nfile = "m.sql"\nx = 1',
    ],
)
def test_a_wrong_plan_is_refused(tmp_path, text):
    (tmp_path / "m.sql").write_text("SELECT COUNT(*) FROM customers")
    (tmp_path / "year.toml").write_text(text)
    with pytest.raises(hr.ParameterError) as refused:
        read_plan(tmp_path / "year.toml")
    assert refused.value.code == "bad-plan"


def test_reports_about_public_tables_are_free_in_a_fitted_plan(shop):
    public = PlannedReport("public", hr.Report.parse("SELECT 1 AS one"), 12, 0.5)
    plan = shop.plan([public, PlannedReport("monthly", MONTHLY, 12, 0.2)], fit=True)
    assert 0.95 < plan.share <= 1.0
    assert [one.charge.epsilon > 0 for one in plan.reports] == [False, True]
    free = shop.plan([public], fit=True)
    assert (free.share, free.needed.epsilon) == (0.0, 0.0)


def test_a_refusal_names_the_report_of_the_plan(shop):
    wanted = hr.Report.parse("-- name: n\n-- within abs:20\nSELECT COUNT(*) AS n FROM customers")
    with pytest.raises(hr.errors.ParameterError, match=r"^yearly: n .line 3.: "):
        shop.plan([PlannedReport("monthly", MONTHLY), PlannedReport("yearly", wanted)])


def ask_for_ever(shop, number, price):
    while True:
        query = f"SELECT COUNT(*) AS n FROM customers WHERE id > {next(number)}"
        shop.sql(query, epsilon=price, mechanism="gaussian")


def test_a_plan_does_not_depend_on_what_is_spent(shop):
    """Gaussian noise could not be paid for any more; pure epsilon could."""
    reports = [PlannedReport("monthly", MONTHLY, 12, 0.2)]
    before, number = shop.plan(reports), count()
    for price in (1.0, 0.5, 0.2):
        with pytest.raises(hr.BudgetError):
            ask_for_ever(shop, number, price)
    assert shop.plan(reports).to_dict() == before.to_dict()


def test_a_file_of_sql_is_a_plan_of_one_report(tmp_path):
    (tmp_path / "monthly.sql").write_text("-- name: n\nSELECT COUNT(*) AS n FROM t;")
    [once] = read_plan(tmp_path / "monthly.sql")
    [often] = read_plan(tmp_path / "monthly.sql", times=12, epsilon=0.3)
    assert (once.name, once.times, once.epsilon) == ("monthly", 1, None)
    assert (often.times, often.epsilon) == (12, 0.3)
    assert [query.name for query in often.report.queries] == ["n"]
    with pytest.raises(hr.ParameterError):
        read_plan(tmp_path / "monthly.sql", times=12, epsilon=-1)
