"""hedgerow quote: the price before the purchase, for nothing."""

BY_CITY = "SELECT city, COUNT(*) AS orders, AVG(price) AS mean_price FROM orders GROUP BY city"


def test_the_json_of_a_quote_is_the_same_frame_with_errors(run_json, shop):
    actual = run_json("quote", BY_CITY, *shop.options)
    assert {"columns", "errors", "confidence", "charge", "remaining", "mechanisms", "survival", "sql"} <= set(actual)
    assert "rows" not in actual
    assert list(actual["errors"]) == ["orders", "mean_price"]
    assert list(actual["errors"]["orders"]) == ["100", "1000", "10000", "100000"]
    assert actual["charge"]["epsilon"] == 0.5
    assert set(actual["survival"]) == {"threshold", "50%", "95%"}
    assert all(isinstance(text, str) for text in actual["sql"])


def test_a_quote_costs_nothing(run_json, shop):
    run_json("quote", BY_CITY, *shop.options)
    assert run_json("budget", "--catalog", shop.catalog)["queries"] == 0


def test_people_read_price_noise_errors_and_survival(run, shop):
    shown = run("quote", BY_CITY, *shop.options).stdout
    assert "price      epsilon 0.5, delta 1e-08: " in shown
    assert "of the budget" in shown
    assert all(size in shown for size in (" 100 ", " 1,000 ", " 10,000 ", " 100,000 "))
    assert "mean_price" in shown
    assert "A group is shown with 50 % probability from" in shown
    assert "SELECT" not in shown


def test_a_quote_fits_on_a_screen_and_its_details_come_on_request(run, shop):
    shown = run("quote", BY_CITY, *shop.options).stdout
    assert shown.count("\n") < 24
    assert max(map(len, shown.splitlines())) <= 90
    details = run("quote", BY_CITY, *shop.options, "--details").stdout
    for words in ("gaussian", "Noise of each measure", "left after epsilon "):
        assert words not in shown
        assert words in details


def test_a_price_beyond_the_budget_is_called_so(run, shop):
    assert "does not fit" in run("quote", BY_CITY, *shop.options, "--epsilon", 50).stdout
    assert "does not fit" not in run("quote", BY_CITY, *shop.options).stdout


def test_the_sql_is_shown_on_request(run, run_json, shop):
    shown = run("quote", BY_CITY, *shop.options, "--sql").stdout
    assert all(text in shown for text in run_json("quote", BY_CITY, *shop.options)["sql"])


def test_public_data_has_no_price(run, shop):
    assert run("quote", "SELECT name FROM countries", *shop.options).stdout == "public data: exact, free\n"


def test_a_quote_is_refused_like_the_question(run, shop):
    result = run("quote", "SELECT * FROM customers", *shop.options)
    assert result.exit_code == 1
    assert "^" in result.stderr


def test_a_dash_reads_the_statement_from_standard_input(run_json, shop):
    assert run_json("quote", "-", *shop.options, stdin=BY_CITY)["columns"] == ["orders", "mean_price"]
