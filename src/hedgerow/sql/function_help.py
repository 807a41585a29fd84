"""Functions that editors propose: a call of each, and what it returns.

The calls use the letters of the SQL page: x and y are numbers, i and j whole numbers, s and t texts, d and e dates, m a
timestamp, b a condition. A test binds every call.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FunctionHelp:
    """One function: a call that shows its arguments, and what it returns."""

    call: str
    returns: str

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.call.partition("(")[0]

    @property
    def arguments(self) -> str:
        """Arguments of the call, in their brackets."""
        return self.call.removeprefix(self.name)


AGGREGATES = tuple(
    FunctionHelp(call, returns)
    for call, returns in (
        ("COUNT(*)", "number of rows; COUNT(DISTINCT x) counts people or values"),
        ("SUM(x)", "total of the values, each clipped to its bounds"),
        ("AVG(x)", "average of the values; of a condition, the share of rows in which it holds"),
        ("MIN(x)", "a value a little above the smallest"),
        ("MAX(x)", "a value a little below the largest"),
        ("MEDIAN(x)", "value in the middle"),
        ("QUANTILE(x, 0.9)", "value that nine of ten do not exceed"),
        ("QUANTILE_CONT(x, 0.9)", "value that nine of ten do not exceed"),
        ("QUANTILE_DISC(x, 0.9)", "the same, always one of the values"),
        ("APPROX_QUANTILE(x, 0.9)", "value that nine of ten do not exceed"),
        ("PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)", "value that nine of ten do not exceed"),
        ("PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY x)", "the same, always one of the values"),
        ("MODE(k)", "most frequent of the declared values"),
        ("HISTOGRAM(x, [0, 10, 20])", "number of rows in each bin, as columns"),
        ("VARIANCE(x)", "variance, as of a sample"),
        ("VAR_POP(x)", "variance, as of everybody"),
        ("VAR_SAMP(x)", "variance, as of a sample"),
        ("STDDEV(x)", "standard deviation, as of a sample"),
        ("STDDEV_POP(x)", "standard deviation, as of everybody"),
        ("STDDEV_SAMP(x)", "standard deviation, as of a sample"),
        ("COVAR_POP(x, y)", "covariance, as of everybody"),
        ("COVAR_SAMP(x, y)", "covariance, as of a sample"),
        ("CORR(x, y)", "correlation, from -1 to 1"),
        ("REGR_SLOPE(y, x)", "change of y if x grows by one"),
        ("REGR_INTERCEPT(y, x)", "value of the regression line at x = 0"),
        ("REGR_R2(y, x)", "share of the variance of y that x explains"),
        ("RATIO(x, y)", "SUM(x) / SUM(y)"),
        ("RELATIVE_RISK(b, i > 1)", "how many times as likely the outcome b is where the condition holds"),
        ("ODDS_RATIO(b, i > 1)", "odds of the outcome b where the condition holds, over those elsewhere"),
        ("RISK_DIFFERENCE(b, i > 1)", "rate of the outcome b where the condition holds, minus that elsewhere"),
        ("LIFT(b, i > 1)", "relative risk, minus one"),
        ("AVG_DIFFERENCE(x, b)", "average of x where b holds, minus that elsewhere"),
        ("AVG_LIFT(x, b)", "the same, relative to the average elsewhere"),
    )
)
"""Aggregates over people."""

SCALARS = tuple(
    FunctionHelp(call, returns)
    for call, returns in (
        ("CLIP(x, 0, 100)", "value cut to two constants, which are then its bounds"),
        ("ABS(x)", "value without its sign"),
        ("SIGN(x)", "-1, 0 or 1"),
        ("FLOOR(x)", "whole number at or below"),
        ("CEIL(x)", "whole number at or above"),
        ("ROUND(x, 2)", "value rounded to a number of decimals"),
        ("TRUNC(x, 2)", "value cut to a number of decimals"),
        ("MOD(i, j)", "remainder of a division"),
        ("SAFE_DIVIDE(x, y)", "x / y; NULL where y is 0"),
        ("WIDTH_BUCKET(x, 0, 100, 10)", "number of the bin, of ten between 0 and 100"),
        ("SQRT(x)", "square root"),
        ("CBRT(x)", "cube root"),
        ("POWER(x, 2)", "value to a power"),
        ("EXP(x)", "e to a power"),
        ("LN(x)", "natural logarithm"),
        ("LOG(x)", "logarithm to base 10"),
        ("LOG10(x)", "logarithm to base 10"),
        ("LOG2(x)", "logarithm to base 2"),
        ("SIN(x)", "sine"),
        ("COS(x)", "cosine"),
        ("TAN(x)", "tangent"),
        ("ASIN(x)", "inverse sine"),
        ("ACOS(x)", "inverse cosine"),
        ("ATAN(x)", "inverse tangent"),
        ("ATAN2(x, y)", "angle of a point"),
        ("RADIANS(x)", "degrees as radians"),
        ("DEGREES(x)", "radians as degrees"),
        ("PI()", "3.14159…"),
        ("XOR(i, j)", "exclusive or, bit by bit"),
        ("LEAST(x, y)", "smallest of the values"),
        ("GREATEST(x, y)", "largest of the values"),
        ("COALESCE(x, y)", "first value that is not NULL"),
        ("IFNULL(x, y)", "x, or y where x is NULL"),
        ("NULLIF(x, y)", "x, or NULL where both are equal"),
        ("NVL2(x, 1, 2)", "second value, or the third where x is NULL"),
        ("IF(b, x, y)", "x where the condition holds, else y"),
        ("ISNULL(x)", "true where x is NULL"),
        ("ISNAN(x)", "true where x is NaN"),
        ("ISINF(x)", "true where x is infinite"),
        ("ISFINITE(x)", "true where x is neither infinite nor NaN"),
        ("CAST(x AS BIGINT)", "value as another type; NULL where that fails"),
        ("TRY_CAST(x AS BIGINT)", "value as another type; NULL where that fails"),
        ("LOWER(s)", "text in lower case"),
        ("UPPER(s)", "text in upper case"),
        ("LENGTH(s)", "number of characters"),
        ("SUBSTRING(s, 2, 3)", "three characters from the second on"),
        ("LEFT(s, 2)", "first characters"),
        ("RIGHT(s, 2)", "last characters"),
        ("SPLIT_PART(s, ',', 2)", "second part between commas"),
        ("TRIM(s)", "text without blanks at its ends"),
        ("BTRIM(s)", "text without blanks at its ends"),
        ("LTRIM(s)", "text without blanks at its beginning"),
        ("RTRIM(s)", "text without blanks at its end"),
        ("REPLACE(s, 'a', 'b')", "text with every a replaced by b"),
        ("TRANSLATE(s, 'ab', 'cd')", "text with each character replaced by its counterpart"),
        ("REVERSE(s)", "text backwards"),
        ("REPEAT(s, 3)", "text three times"),
        ("LPAD(s, 5, '0')", "text filled up at its beginning"),
        ("RPAD(s, 5, ' ')", "text filled up at its end"),
        ("CONCAT(s, t)", "texts joined; NULL is left out"),
        ("CONCAT_WS('-', s, t)", "texts joined with a separator"),
        ("CONTAINS(s, 'a')", "true where the text contains the other"),
        ("STARTS_WITH(s, 'a')", "true where the text starts with the other"),
        ("ENDS_WITH(s, 'a')", "true where the text ends with the other"),
        ("PREFIX(s, 'a')", "true where the text starts with the other"),
        ("SUFFIX(s, 'a')", "true where the text ends with the other"),
        ("REGEXP_MATCHES(s, 'a+')", "true where a part of the text matches"),
        ("REGEXP_FULL_MATCH(s, 'a+')", "true where the whole text matches"),
        ("REGEXP_EXTRACT(s, '(a)b', 1)", "part of the text that matches"),
        ("REGEXP_REPLACE(s, 'a+', 'b')", "text with the first match replaced"),
        ("STRPOS(s, t)", "place of a text in another; 0 where it is not there"),
        ("POSITION(t IN s)", "place of a text in another; 0 where it is not there"),
        ("INSTR(s, t)", "place of a text in another; 0 where it is not there"),
        ("LOCATE('a', s, 3)", "place of a text in another, from the third character on"),
        ("ASCII(s)", "code of the first character"),
        ("CHR(i)", "character with this code"),
        ("EXTRACT(year FROM d)", "part of a date: year, quarter, month, week, day, dow, hour, …"),
        ("DATE_PART('year', d)", "part of a date: year, quarter, month, week, day, dow, hour, …"),
        ("DATE_TRUNC('month', d)", "beginning of the year, quarter, month, week, day, hour, …"),
        ("TIME_BUCKET(INTERVAL 2 WEEK, m)", "beginning of a period of constant width"),
        ("DATE_DIFF('day', d, e)", "number of boundaries between days, months, … from d to e"),
        ("DATE_SUB('day', d, m)", "number of complete days, months, … from d to m"),
        ("DATE_ADD(d, INTERVAL 3 MONTH)", "later date"),
        ("AGE(d, e)", "time from e to d; take a part of it with EXTRACT"),
        ("YEAR(d)", "year"),
        ("QUARTER(d)", "quarter, from 1"),
        ("MONTH(d)", "month, from 1"),
        ("WEEK(d)", "week of the year"),
        ("WEEKOFYEAR(d)", "week of the year"),
        ("DAY(d)", "day of the month"),
        ("DAYOFMONTH(d)", "day of the month"),
        ("DAYOFWEEK(d)", "day of the week, from 0 (Sunday)"),
        ("ISODOW(d)", "day of the week, from 1 (Monday)"),
        ("DAYOFYEAR(d)", "day of the year"),
        ("HOUR(m)", "hour"),
        ("MINUTE(m)", "minute"),
        ("SECOND(m)", "second"),
        ("MONTHNAME(d)", "name of the month"),
        ("DAYNAME(d)", "name of the day"),
        ("LAST_DAY(d)", "last day of the month"),
        ("MAKE_DATE(2026, 1, 31)", "date of year, month and day"),
        ("MAKE_TIMESTAMP(2026, 1, 31, 12, 30, 1.5)", "timestamp of its parts"),
        ("EPOCH(m)", "seconds since 1970"),
        ("TO_TIMESTAMP(x)", "point in time of seconds since 1970"),
        ("STRFTIME(d, '%Y-%m')", "date as text"),
        ("TO_CHAR(d, 'YYYY-MM')", "date as text"),
        ("STRPTIME(s, '%d.%m.%Y')", "text as a date; NULL where that fails"),
    )
)
"""Functions of one row."""
