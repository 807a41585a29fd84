"""DuckDB's own text means here what it means in DuckDB."""

from datetime import date, datetime
from decimal import Decimal

import pytest

SAME = """
IFNULL(z, x) | NULLIF(i, 7) | COALESCE(k, i) | GREATEST(x, y, z) | LEAST(x, z) | IF(b, i, j) | IF(c, i, NULL)
CASE WHEN i > 5 THEN 'big' ELSE 'small' END | CASE i WHEN 7 THEN 'seven' END | i BETWEEN 1 AND 7
i NOT BETWEEN 1 AND 7 | i IN (1, 7) | i NOT IN (1, 2) | k IN (1, 2) | i IN (1, NULL) | b IS TRUE | b IS NOT TRUE
NOT b | b AND k > 1 | c AND k > 1 | z IS NULL | z IS NOT NULL | z IS DISTINCT FROM x | z IS NOT DISTINCT FROM NULL
b = 1 | NOT i | b <> c | i // j | -i // j | i % j | -i % j | MOD(i, j) | x % y | i / j | x / y | i & j | i | j
XOR(i, j) | x ** j | ROUND(x) | ROUND(x, 1) | ROUND(y) | TRUNC(x) | TRUNC(12.3456, 2) | TRUNC(i, -1) | FLOOR(x)
CEIL(x) | ABS(y) | SIGN(y) | SQRT(x) | CBRT(x) | EXP(j) | LN(x) | LOG(x) | LOG(2, x) | LOG2(x) | LOG10(x)
LOG(3, x) | POW(x, j) | PI() | DEGREES(x) | SIN(x) | COS(x) | TAN(x) | ASIN(x / 10) | ACOS(x / 10) | ATAN(x)
ATAN2(x, y) | ISNAN(x) | ISINF(x) | ISFINITE(x) | @y | CAST(x AS BIGINT) | CAST(q AS BIGINT)
CAST(q AS DECIMAL(10, 2)) | CAST(q AS DECIMAL) | TRY_CAST(s AS DOUBLE) IS NULL | x::INT | CAST(i AS VARCHAR)
CAST(b AS BIGINT) | CAST('2026-01-31' AS DATE) | CAST(m AS DATE) | CAST(d AS TIMESTAMP) | TRY_CAST(s AS INT)
s || '!' | s || w | CONCAT(s, w) | CONCAT(s, i) | CONCAT_WS('-', s, w, t) | CONCAT_WS(w, s, t) | LENGTH(s)
LOWER(s) | UPPER(s) | REVERSE(s) | LEFT(s, 3) | RIGHT(s, 3) | LEFT(s, -3) | RIGHT(s, -3) | SUBSTRING(s, 2, 3)
SUBSTR(s, 0, 3) | SUBSTR(s, -5) | SUBSTR(s, -5, 2) | SUBSTRING(s FROM 7) | REPLACE(s, 'l', 'L') | TRIM('  a ')
LTRIM(s, 'H') | RTRIM(s, 'd') | TRIM(s, 'Hd') | STRPOS(s, 'o') | INSTR(s, 'o') | POSITION('o' IN s) | CONTAINS(s, t)
STARTS_WITH(s, 'He') | ENDS_WITH(s, t) | SUFFIX(s, t) | PREFIX(s, 'He') | LPAD(s, 15, '*') | RPAD(s, 15, 'ab')
LPAD(s, 3, '*') | REPEAT(t, 3) | REPEAT(t, 0) | SPLIT_PART(s, ' ', 2) | SPLIT_PART(s, ' ', -1)
SPLIT_PART(s, ' ', 9) | ASCII(s) | CHR(955) | TRANSLATE(s, 'lo', '01') | s LIKE 'Hello%' | s ILIKE 'hello%'
s LIKE '%l%o%W%' | s ILIKE '%L%O%w%' | s NOT LIKE 'x%' | s NOT ILIKE 'H%' | s LIKE 'H_llo%' | s LIKE '%_o%_r%_'
s LIKE 'Hello!_%' ESCAPE '!' | '50%' LIKE '50!%' ESCAPE '!' | 'a%b%c%d' LIKE '%!%%!%%' ESCAPE '!' | s ~~ 'Hello%'
s ~~* 'hello%' | s !~~ 'x' | s GLOB 'H*' | REGEXP_MATCHES(s, 'l+') | REGEXP_MATCHES(s, 'L+', 'i') | s ~ 'W.*d'
s ~ '^World' | s !~ 'x' | REGEXP_FULL_MATCH(s, '\\w+ \\w+') | REGEXP_EXTRACT(s, '(\\w+) (\\w+)', 2)
REGEXP_EXTRACT(s, 'o.') | REGEXP_EXTRACT(s, 'zz') | REGEXP_REPLACE(s, 'o', '0')
REGEXP_REPLACE(s, '(o)', '<\\1>', 'g') | s SIMILAR TO 'H.*d' | s SIMILAR TO 'H' | REGEXP_REPLACE(s, 'L', '-', 'gi')
EXTRACT(YEAR FROM d) | EXTRACT(QUARTER FROM d) | EXTRACT(MONTH FROM d) | EXTRACT(WEEK FROM d) | EXTRACT(DAY FROM d)
EXTRACT(DOW FROM d) | EXTRACT(ISODOW FROM d) | EXTRACT(DOY FROM d) | EXTRACT(HOUR FROM m) | EXTRACT(MINUTE FROM m)
EXTRACT(SECOND FROM m) | EXTRACT(EPOCH FROM m) | EXTRACT(ISOYEAR FROM d) | EXTRACT(MILLISECOND FROM m)
EXTRACT(DECADE FROM d) | EXTRACT(MICROSECOND FROM m) | EXTRACT(CENTURY FROM d) | DATE_PART('year', d) | YEAR(d)
MONTH(d) | DAY(d) | WEEK(d) | DAYOFWEEK(d) | DAYOFMONTH(d) | WEEKDAY(d) | ISODOW(d) | DAYOFYEAR(d) | WEEKOFYEAR(d)
HOUR(m) | MINUTE(m) | SECOND(m) | ISOYEAR(d) | EPOCH(m) | DECADE(d) | CENTURY(d) | MILLISECOND(m) | MICROSECOND(m)
EXTRACT(YEAR FROM AGE(d, e)) | DATE_PART('year', AGE(e, d)) | DATE_TRUNC('year', d) | DATE_TRUNC('quarter', d)
DATE_TRUNC('month', d) | DATE_TRUNC('week', d) | DATE_TRUNC('hour', m) | DATE_TRUNC('minute', m)
DATE_TRUNC('day', m) | DATE_TRUNC('week', m) | DATE_TRUNC('second', m) | DATE_DIFF('day', e, d)
DATE_DIFF('month', e, d) | DATE_DIFF('year', e, d) | DATE_DIFF('week', e, d) | DATE_DIFF('hour', n, m)
DATEDIFF('quarter', e, d) | DATE_DIFF('minute', n, m) | DATE_DIFF('day', d, '2026-04-01') | DATE_SUB('hour', n, m)
DATE_SUB('day', n, m) | DATE_SUB('month', e, d) | DATE_SUB('year', e, d) | d - e | d + 3 | d - 3 | d + i::INT
i::INT + d | m + INTERVAL 90 MINUTE | m - INTERVAL '1 hour' | m + INTERVAL (i) DAY | m + i * INTERVAL '1 day'
m + INTERVAL '1 year 2 months' | m - INTERVAL '3' MONTH | INTERVAL 1 DAY + m | m + TO_DAYS(i)
m + INTERVAL '2 weeks' | LAST_DAY(d) | MONTHNAME(d) | DAYNAME(d) | MAKE_DATE(2026, i, 1) | MAKE_DATE(i, j, 1)
MAKE_TIMESTAMP(2026, 1, 31, 12, 30, 1.5) | STRFTIME(d, '%Y-%m')
STRFTIME(m, '%H:%M:%S %p %a %A %b %B %j %U %W %V %G %w %u %y %-d %%') | STRPTIME('2026-01-31', '%Y-%m-%d')
STRPTIME('31/01/26 12', '%d/%m/%y %H') | TRY_STRPTIME('x', '%Y') | EPOCH(d) | TIME_BUCKET(INTERVAL '15 minutes', m)
TIME_BUCKET(INTERVAL 1 MONTH, m) | TIME_BUCKET(INTERVAL '2 days', d) | TIME_BUCKET(INTERVAL 1 WEEK, m)
TIME_BUCKET(INTERVAL '3 hours', m) | TIME_BUCKET(INTERVAL 1 YEAR, d) | TIME_BUCKET(INTERVAL 45 SECOND, m)
TIME_BUCKET(INTERVAL 1 QUARTER, m) | DATE '2026-01-31' | TIMESTAMP '2026-01-31 12:00:00' | d > '2026-01-01'
d = DATE '2026-03-15' | m >= '2026-03-15' | m < d | x > '7' | i = '7' | q > 12 | q = 12.3456 | x BETWEEN 1 AND 8
('a' || s) = 'aHello World' | m - n < INTERVAL 60 MINUTE | m - n < INTERVAL '1 day' | INTERVAL 23 HOUR < (m - n)
m - n BETWEEN INTERVAL 1 HOUR AND INTERVAL '2 days' | m - d > INTERVAL 13 HOUR
"""
TEXTS = [
    text.strip().replace("\x00", "|").replace("\x01", "||")
    for text in SAME.replace("\n", " | ").replace("||", "\x01").replace("& j | i | j |", "& j | i \x00 j |").split("|")
    if text.strip()
]


def plain(value):
    """Numbers by value, dates as moments: their types are ours, not DuckDB's."""
    if isinstance(value, bool | int | float | Decimal):
        return round(float(value), 9)
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)  # noqa: DTZ001
    return value


@pytest.mark.parametrize("text", TEXTS)
def test_duckdb_text_gives_what_duckdb_gives(ordinary, value, text):
    theirs = ordinary.sql(f"SELECT {text.replace('TRUNC(12.3456, 2)', 'TRUNC(12.3456::DOUBLE, 2)')} FROM t").fetchall()[
        0
    ][0]
    assert plain(value(text)) == plain(theirs)


def test_there_are_many_texts():
    assert len(TEXTS) > 250
    assert len({*TEXTS}) == len(TEXTS)
