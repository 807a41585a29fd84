"""Superset as its users drive it: a server of its own, and its REST API."""

import json
import subprocess
import time
import urllib.error
import urllib.request

CONFIGURATION = """
SECRET_KEY = "only for this test, and long enough for it"
SQLALCHEMY_DATABASE_URI = "sqlite:///{folder}/superset.db"
WTF_CSRF_ENABLED = False
TALISMAN_ENABLED = False
FEATURE_FLAGS = {{"ESTIMATE_QUERY_COST": True}}
FILTER_STATE_CACHE_CONFIG = EXPLORE_FORM_DATA_CACHE_CONFIG = {{"CACHE_TYPE": "SimpleCache"}}
"""
NAME, PASSWORD = "admin", "admin-of-this-test"


class Superset:
    """One server in a folder, and an administrator who has logged in."""

    def __init__(self, environment, folder, port):
        self._program = environment / "bin" / "superset"
        configuration = folder / "superset_config.py"
        configuration.write_text(CONFIGURATION.format(folder=folder))
        self._variables = {
            "PATH": f"{environment / 'bin'}:/usr/bin:/bin",
            "HOME": str(folder),
            "SUPERSET_HOME": str(folder),
            "SUPERSET_CONFIG_PATH": str(configuration),
            "FLASK_APP": "superset.app:create_app()",
        }
        self._run("db", "upgrade")
        person = ("--firstname", "a", "--lastname", "b", "--email", "a@example.org")
        self._run("fab", "create-admin", "--username", NAME, "--password", PASSWORD, *person)
        self._run("init")
        self._log = (folder / "superset.log").open("w")
        self._process = subprocess.Popen(  # noqa: S603 - our own words
            [self._program, "run", "--port", str(port), "--with-threads"],
            env=self._variables,
            stdout=self._log,
            stderr=self._log,
        )
        self._address = f"http://127.0.0.1:{port}"
        self._token = None
        while not self._is_up():
            assert self._process.poll() is None, (folder / "superset.log").read_text()
            time.sleep(0.5)
        login = {"username": NAME, "password": PASSWORD, "provider": "db", "refresh": False}
        self._token = self.post("security/login", login)["access_token"]

    def _run(self, *words):
        done = subprocess.run(  # noqa: S603 - our own words
            [self._program, *words], env=self._variables, capture_output=True, text=True, check=False, timeout=900
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def _is_up(self):
        try:
            with urllib.request.urlopen(f"{self._address}/health", timeout=30):  # noqa: S310 - on this machine
                return True
        except (urllib.error.URLError, ConnectionError):
            return False

    def post(self, path, body):
        return self.call("POST", path, body)

    def get(self, path):
        return self.call("GET", path)

    def call(self, method, path, body=None):
        """The JSON of a response; a refusal is an AssertionError with its text."""
        headers = {} if body is None else {"Content-Type": "application/json"}
        headers |= {"Authorization": f"Bearer {self._token}"} if self._token else {}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self._address}/api/v1/{path}", data, headers, method=method)  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=120) as response:  # noqa: S310 - on this machine
                return json.load(response)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.code} {error.read().decode()}") from None

    def close(self):
        self._process.terminate()
        self._process.wait(60)
        self._log.close()


def metric(function, column=None):
    """A metric of a chart: COUNT(*), or a function of a column."""
    if column is None:
        return {"expressionType": "SQL", "sqlExpression": "COUNT(*)", "label": "people"}
    return {
        "expressionType": "SIMPLE",
        "aggregate": function,
        "column": {"column_name": column},
        "label": f"{function} of {column}",
    }


def chart(dataset, kind, name, **query):
    """The body by which a chart is saved: its form, and the query of its data."""
    context = {
        "datasource": {"id": dataset, "type": "table"},
        "force": False,
        "queries": [{"filters": [], "extras": {}, "orderby": [], "row_limit": 1000, **query}],
        "form_data": {"viz_type": kind, "datasource": f"{dataset}__table"},
        "result_format": "json",
        "result_type": "full",
    }
    return {
        "slice_name": name,
        "viz_type": kind,
        "datasource_id": dataset,
        "datasource_type": "table",
        "params": json.dumps(context["form_data"]),
        "query_context": json.dumps(context),
    }
