"""`python -m equipoise` is `equipoise`."""

from equipoise.cli import main

if __name__ == "__main__":
    main()
