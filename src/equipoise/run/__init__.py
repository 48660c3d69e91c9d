"""Build, the one round loop, checkpoints, resume, sweeps, fuse."""
