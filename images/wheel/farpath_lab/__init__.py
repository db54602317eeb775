"""The built parts of farpath's virtual lab, which ``farpath`` unpacks when it first needs them.

``lab.json`` describes the archive, ``files.tsv`` lists its files, and ``packages.tsv`` names the
source of each. ``images`` has the scripts and sources that they were made with.
"""
