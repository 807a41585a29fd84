"""Metrics, log, readiness and systemd: what operators see, which holds no text and no value of an analyst."""

import asyncio
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from hedgerow.cli.serve import is_supervised
from hedgerow.errors import CatalogError, LedgerError
from hedgerow.service.admission import StatementEvent
from hedgerow.service.configuration import CONSOLE_PORT, HTTP_PORT, WIRE_PORT, ledger_location, read_configuration
from hedgerow.service.monitoring import Metrics, RequestLog, ServiceHealth, request_id
from hedgerow.service.server import notify

from .serving import CATALOG

DEPLOY = Path(__file__).parents[2] / "deploy"
EVENT = StatementEvent("wire", "shop", "ann", "query", "ok", 0.02, 0.3, reused=False)
FIELDS = {"time", "event", "request", "interface", "dataset", "analyst", "kind", "code", "seconds", "epsilon", "reused"}


class Budget:
    """The part of a budget's view that metrics read."""

    used = {"gaussian": 0.25, "pure": 0.0, "mass": 1.5}  # noqa: RUF012 - read only


def text(metrics):
    assert metrics.content_type.startswith("text/plain")
    return metrics.render().decode()


def test_requests_are_counted_by_outcome_and_the_budget_is_shown():
    metrics = Metrics(lambda: (3, 2), lambda: {"shop": Budget})
    for _ in range(2):
        metrics.observe(EVENT)
    metrics.observe(StatementEvent("http", "shop", "ann", "query", "parse", 0.001, reused=True))
    lines = text(metrics).splitlines()
    assert 'hedgerow_requests_total{dataset="shop",interface="wire",kind="query",outcome="ok"} 2.0' in lines
    assert 'hedgerow_requests_total{dataset="shop",interface="http",kind="query",outcome="parse"} 1.0' in lines
    assert 'hedgerow_reused_answers_total{dataset="shop",interface="http"} 1.0' in lines
    assert 'hedgerow_request_seconds_bucket{interface="wire",kind="query",le="0.025"} 2.0' in lines
    assert "hedgerow_statements_running 3.0" in lines
    assert "hedgerow_statements_waiting 2.0" in lines
    assert 'hedgerow_budget_left_ratio{coordinate="gaussian",dataset="shop"} 0.75' in lines
    assert 'hedgerow_budget_left_ratio{coordinate="mass",dataset="shop"} 0.0' in lines


def test_no_label_grows_with_what_analysts_choose():
    metrics = Metrics(budgets=lambda: {"shop": Budget})
    for _ in range(50):
        name = uuid.uuid4().hex
        metrics.observe(StatementEvent(name, name, name, "query", "ok", 0.1))
    shown = text(metrics)
    assert 'hedgerow_requests_total{dataset="other",interface="other",kind="query",outcome="ok"} 50.0' in shown
    assert name not in shown


def test_a_ledger_that_cannot_be_read_leaves_the_other_metrics():
    def unreadable():
        raise LedgerError("gone")

    metrics = Metrics(budgets=lambda: {"shop": unreadable})
    metrics.observe(EVENT)
    assert "hedgerow_requests_total{" in text(metrics)


def test_the_log_has_one_line_of_json_for_each_request(tmp_path):
    log = RequestLog(str(tmp_path / "log.jsonl"))
    log.observe(EVENT)
    token = request_id.set("abc")
    log.observe(EVENT)
    request_id.reset(token)
    log.close()
    first, second = map(json.loads, (tmp_path / "log.jsonl").read_text().splitlines())
    assert set(first) == FIELDS
    assert (second["request"], second["code"], second["epsilon"]) == ("abc", "ok", 0.3)
    assert first["request"] != second["request"]


def test_a_log_that_was_moved_is_opened_again(tmp_path):
    file = tmp_path / "log.jsonl"
    log = RequestLog(str(file))
    log.write(event="started")
    file.rename(tmp_path / "old.jsonl")
    log.reopen()
    log.write(event="reloaded")
    log.close()
    assert json.loads(file.read_text())["event"] == "reloaded"
    assert json.loads((tmp_path / "old.jsonl").read_text())["event"] == "started"


def test_a_log_without_a_file_goes_to_standard_error(capsys):
    log = RequestLog()
    log.write(event="started")
    log.reopen()
    log.close()
    assert json.loads(capsys.readouterr().err)["event"] == "started"


def test_a_log_that_cannot_be_written_is_told(tmp_path):
    with pytest.raises(CatalogError) as error:
        RequestLog(str(tmp_path / "nowhere" / "log.jsonl"))
    assert error.value.code == "serve-setting"


def test_a_service_is_ready_if_all_parts_work_and_it_takes_statements():
    async def works():
        pass

    async def fails():
        raise LedgerError("secret")

    async def breaks():
        raise ValueError("secret")

    health = ServiceHealth({"ledger": works})
    starting = asyncio.run(health.readiness())
    assert (starting.ready, starting.parts) == (False, {"service": "starting", "ledger": "ok"})
    health.state = "ok"
    assert asyncio.run(health.readiness()).ready
    health.checks = {"ledger": fails, "accounts": breaks}
    broken = asyncio.run(health.readiness())
    assert (broken.ready, broken.parts) == (False, {"service": "ok", "ledger": "ledger", "accounts": "internal"})


@pytest.mark.parametrize("abstract", [False, True])
def test_systemd_hears_states_on_its_socket(tmp_path, monkeypatch, abstract):
    name = f"@hedgerow-{uuid.uuid4().hex}" if abstract else str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(name.replace("@", "\0", 1))
        monkeypatch.setenv("NOTIFY_SOCKET", name)
        notify("READY=1", "STATUS=fine")
        assert systemd.recv(100) == b"READY=1\nSTATUS=fine"
    assert is_supervised()


def test_without_systemd_nothing_is_sent(monkeypatch):
    for name in ("NOTIFY_SOCKET", "INVOCATION_ID"):
        monkeypatch.delenv(name, raising=False)
    notify("READY=1")
    assert not is_supervised()
    monkeypatch.setenv("NOTIFY_SOCKET", os.devnull)
    notify("READY=1")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="the Debian package systemd is not installed")
def test_systemd_understands_the_unit_and_finds_little_exposed(tmp_path):
    """The program is that of this environment: systemd looks for it."""
    unit = tmp_path / "hedgerow.service"
    program = Path(sys.executable).with_name("hedgerow")
    unit.write_text((DEPLOY / "hedgerow.service").read_text().replace("/usr/local/bin/hedgerow", str(program)))
    verified = subprocess.run(["systemd-analyze", "verify", unit], check=False, capture_output=True, text=True)  # noqa: S603, S607 - our own words
    assert (verified.returncode, verified.stderr) == (0, "")
    judge = ["systemd-analyze", "security", "--offline=true", "--threshold=20", unit]
    assert subprocess.run(judge, check=False, capture_output=True).returncode == 0  # noqa: S603 - likewise


def test_the_settings_for_servers_can_be_read_and_keep_what_changes_in_one_folder(tmp_path):
    state = tmp_path / "state"
    state.mkdir()
    (state / "hospital.yaml").write_text(CATALOG)
    (tmp_path / "hedgerow.toml").write_text(
        (DEPLOY / "hedgerow.toml").read_text().replace("/var/lib/hedgerow", str(state))
    )
    configuration = read_configuration(tmp_path / "hedgerow.toml")
    assert configuration.tls is not None
    assert not configuration.is_local
    [dataset] = configuration.datasets.values()
    changing = configuration.store, dataset.catalog, ledger_location(dataset)
    assert {Path(place).parent for place in changing} == {state}


def test_the_image_offers_every_port_and_runs_as_nobody_special():
    text = (DEPLOY / "Containerfile").read_text()
    ports = re.search(r"^EXPOSE (.*)$", text, re.MULTILINE)[1].split()
    assert ports == [str(port) for port in (WIRE_PORT, HTTP_PORT, CONSOLE_PORT)]
    assert "\nUSER hedgerow\n" in text
