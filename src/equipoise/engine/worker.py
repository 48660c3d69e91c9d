"""A worker process: told once what the site is, then one cohort after another, until its parent is gone."""

from __future__ import annotations

from equipoise.core.errors import EquipoiseError
from equipoise.engine.engine import make_work
from equipoise.engine.messages import error_bytes, results_bytes, tasks_from
from equipoise.engine.shared import shared_site
from equipoise.engine.wire import join_parent, receive, send


def main() -> None:
    parent = join_parent()
    site = receive(parent)
    if site is None:
        return
    work = make_work(shared_site(site))
    while (message := receive(parent)) is not None:
        try:
            answer = results_bytes(work(tasks_from(message)))
        except EquipoiseError as error:
            answer = error_bytes(error)
        send(parent, answer)


if __name__ == "__main__":
    main()
