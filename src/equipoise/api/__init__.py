"""The Python API, `import equipoise as eq`. The commands are thin wrappers around it.

    train       run, resume                      → RunHandle: metrics, findings, clients, figures of one run
    sweep       sweep                            → SweepHandle: the runs of a grid, their table
    fuse        fuse                             → FusedRuns: other servers on trained clients
    compare     compare                          → ComparisonTable
    diagnose    diagnose, diagnose_all           → Diagnosis
    partition   partition                        → PartitionView: who owns what
    choose      open_run, runs                   stored runs
    report, export                               files

Only `train`, `sweep`, `fuse` and `partition` need torch, when they are called. A wrong request raises an error class of
`core.errors`; nothing here ends the process. Returned objects render as HTML in a notebook.
"""
