"""Sends a run to an MLflow tracking server, through MLflow's client; nothing of its fluent interface is used.

    name at MLflow   ours with "@" as " at ", and any other character that MLflow refuses as its code: "λ" is "_x3bb_"

MLflow keeps an infinity as the largest double.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Sequence
from typing import Any

from equipoise.config.track import MlflowOptions
from equipoise.core.errors import ConfigError
from equipoise.track.points import Point, in_batches
from equipoise.track.sink import OpenedRun, TrackedRun

METRICS_AT_ONCE, SETTINGS_AT_ONCE = 1000, 100
"""The most that MLflow takes in one request."""
LONGEST_SETTING = 6000
PATIENT = {
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
}
"""MLflow's variables where nobody has set them. By default it retries for minutes, where the feed tries again,
and prints addresses to stdout, where a command prints its JSON."""
STATUS = {"done": "FINISHED", "stopped": "KILLED", "failed": "FAILED"}
RUN_TAG, FACTS_TAG = "equipoise.run_id", "equipoise.facts"


class MlflowSink:
    name = "mlflow"

    def __init__(self, options: MlflowOptions) -> None:
        uri = options.uri or os.environ.get("MLFLOW_TRACKING_URI")
        if not uri:
            fix = "track.mlflow.uri=http://127.0.0.1:5000, or set MLFLOW_TRACKING_URI"
            raise ConfigError("tracking with MLflow needs the address of a server", where="track.mlflow.uri", fix=fix)
        self.uri, self.experiment = uri, options.experiment
        self.place = f"{without_password(uri)} {options.experiment}"
        self.client: Any = None
        self.remote = ""
        self.half_made = ""
        """A run that was made, but could not be described yet."""

    def open(self, run: TrackedRun, known: str | None) -> OpenedRun:
        self.client = client_of(self.uri)
        if known is not None and self._is_there(known):
            self.client.update_run(known, status="RUNNING")
            self.remote = known
            return OpenedRun(known, is_new=False)
        if not self.half_made:
            tags = {RUN_TAG: run.run_id, "equipoise.method": run.method, "equipoise.version": run.version}
            tags[FACTS_TAG] = json.dumps(dict(run.facts))
            made = self.client.create_run(self._experiment_id(), tags=tags, run_name=run.run_id)
            self.half_made = made.info.run_id
        self._describe(self.half_made, run)
        self.remote, self.half_made = self.half_made, ""
        return OpenedRun(self.remote, is_new=True)

    def send(self, points: Sequence[Point]) -> None:
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        metrics = [Metric(theirs(point.tag), point.value, now, point.step) for point in points]
        for batch in in_batches(metrics, METRICS_AT_ONCE):
            self.client.log_batch(self.remote, metrics=batch, synchronous=True)

    def close(self, status: str) -> None:
        self.client.set_terminated(self.remote, STATUS.get(status, "FAILED"))

    def _is_there(self, known: str) -> bool:
        from mlflow.exceptions import MlflowException

        try:
            return bool(self.client.get_run(known).info.lifecycle_stage == "active")
        except MlflowException as error:
            if error.error_code == "RESOURCE_DOES_NOT_EXIST":
                return False
            raise

    def _experiment_id(self) -> str:
        found = self.client.get_experiment_by_name(self.experiment)
        return str(found.experiment_id if found is not None else self.client.create_experiment(self.experiment))

    def _describe(self, remote: str, run: TrackedRun) -> None:
        """The configuration as parameters; a longer value than MLflow takes is left to the store."""
        from mlflow.entities import Param

        texts = {theirs(key): str(value) for key, value in run.settings.items() if value is not None}
        params = [Param(key, text) for key, text in texts.items() if 0 < len(text) <= LONGEST_SETTING]
        for batch in in_batches(params, SETTINGS_AT_ONCE):
            self.client.log_batch(remote, params=batch, synchronous=True)


def client_of(uri: str) -> Any:
    """A client of the server, with time-outs of seconds."""
    for name, value in PATIENT.items():
        os.environ.setdefault(name, value)
    from mlflow import MlflowClient

    return MlflowClient(tracking_uri=uri)


def without_password(uri: str) -> str:
    """
    >>> without_password("https://me:secret@server/x")
    'https://server/x'
    """
    return re.sub(r"(?<=://)[^/@]*@", "", uri)


def theirs(name: str) -> str:
    """
    >>> theirs("client_3/hr@10/full"), theirs("λ")
    ('client_3/hr at 10/full', '_x3bb_')
    """
    return re.sub(r"[^A-Za-z0-9_\-. /]", lambda found: f"_x{ord(found[0]):x}_", name.replace("@", " at "))


def ours(name: str) -> str:
    """
    >>> ours("client_3/hr at 10/full"), ours("_x3bb_")
    ('client_3/hr@10/full', 'λ')
    """
    text = re.sub(r"_x([0-9a-f]{1,5})_", lambda found: chr(int(found[1], 16)), name)
    return text.replace(" at ", "@")
