"""``python -m farpath``: the command line."""

from farpath.cli.app import main

if __name__ == "__main__":
    main()
