"""Live pages over a store: FastAPI, one HTML page and one JSON document per address, server-sent events.

    changes.py   sees what changed in the store        feed.py    tells open pages, within a budget of processor time
    pages/       the content of each page              render.py  content → HTML
    grids.py     client × checkpoint numbers           charts.py  the report's figures as chart specifications
    actions.py   stop, resume, start                   doors.py   who may read and who may act

Pages only read. To stop a run, a request is written that the run reads at its next checkpoint; to start or resume one,
`equipoise run` or `equipoise resume` is started as a process of its own. Nothing here needs torch.
"""
