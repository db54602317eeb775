"""The labs: what runs a plan and brings a record back, ``uml`` in virtual time."""
