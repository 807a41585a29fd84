"""A Java program as a client.

`python jdbc_client.py URL QUESTION PARAMETERS CANCELLED` asks three
questions (the second takes four parameters, the third is cancelled) and prints what it saw, one JSON line a step.

It runs in a process of its own, because a JVM ends with its process.
It asks the third question when it reads a line, and cancels when it reads another.
"""

import json
import sys
import threading

import jpype

JAR = "/usr/share/java/postgresql.jar"


def rows(result, *columns):
    """All rows of a result: the texts of these columns, by name or number."""
    seen = []
    while result.next():
        seen.append([None if (text := result.getString(column)) is None else str(text) for column in columns])
    return seen


def say(**step):
    print(json.dumps(step), flush=True)  # noqa: T201 - to the test that started it


def refusal(action):
    """Fields of the error that the server sent."""
    try:
        action()
    except jpype.JClass("org.postgresql.util.PSQLException") as error:
        said = error.getServerErrorMessage()
        fields = str(said.getSQLState()), str(said.getMessage()), int(said.getPosition()), said.getHint()
        return [None if field is None else str(field) if not isinstance(field, int) else field for field in fields]
    return None


def describe(connection):
    data = connection.getMetaData()
    say(
        tables=rows(data.getTables(None, "public", "%", ["TABLE"]), "TABLE_NAME"),
        columns=rows(data.getColumns(None, "public", "visits", "%"), "COLUMN_NAME", "TYPE_NAME", "REMARKS"),
        keys=rows(data.getPrimaryKeys(None, "public", "patients"), "COLUMN_NAME"),
    )


def ask(connection, question):
    """Ask with parameters, often enough that the driver prepares on the server and takes binary results."""
    statement = connection.prepareStatement(question)
    seen = []
    for _ in range(7):
        statement.setInt(1, 40)
        statement.setString(2, "surgery")
        statement.setDate(3, jpype.JClass("java.sql.Date").valueOf("2024-03-01"))
        statement.setBigDecimal(4, jpype.JClass("java.math.BigDecimal")("4000.25"))
        seen.append(rows(statement.executeQuery(), 1))
    data = statement.getMetaData()
    say(
        answers=seen,
        types=[str(data.getColumnTypeName(index + 1)) for index in range(data.getColumnCount())],
        warning=str(statement.getWarnings().getMessage()) if statement.getWarnings() else None,
    )


def fetch(connection, question):
    """Read in parts of two rows, which JDBC does inside a transaction only."""
    connection.setAutoCommit(False)
    statement = connection.createStatement()
    statement.setFetchSize(2)
    parts = rows(statement.executeQuery(question), 1, 2)
    connection.commit()
    connection.setAutoCommit(True)
    say(parts=parts, whole=rows(connection.createStatement().executeQuery(question), 1, 2))


def copy(connection, question):
    manager = connection.unwrap(jpype.JClass("org.postgresql.PGConnection")).getCopyAPI()
    target = jpype.JClass("java.io.StringWriter")()
    manager.copyOut(f"COPY ({question}) TO STDOUT (FORMAT csv)", target)
    say(copied=str(target.toString()))


def fail(connection):
    statement = connection.createStatement()
    say(
        column=refusal(lambda: statement.executeQuery("SELECT region, nonsense FROM patients")),
        preview=refusal(lambda: statement.executeQuery("SELECT * FROM patients LIMIT 200")),
    )


def cancel(connection, question):
    statement, seen = connection.createStatement(), []
    thread = threading.Thread(target=lambda: seen.append(refusal(lambda: statement.executeQuery(question))))
    sys.stdin.readline()
    thread.start()
    sys.stdin.readline()  # the question was charged, and is held
    statement.cancel()
    say(cancelled=True)
    thread.join()
    say(cancel=seen[0], again=len(rows(statement.executeQuery(question), 1)))


def main():
    url, question, with_parameters, cancelled = sys.argv[1:]
    jpype.startJVM(classpath=[JAR])
    connection = jpype.JClass("java.sql.DriverManager").getConnection(url)
    describe(connection)
    ask(connection, with_parameters)
    fetch(connection, question)
    copy(connection, question)
    fail(connection)
    cancel(connection, cancelled)
    connection.close()


if __name__ == "__main__":
    main()
