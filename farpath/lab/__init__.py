"""The labs: run a plan in a guest and write its record; ``uml`` runs in virtual time."""
