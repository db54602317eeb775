"""Results sites: sets of records as static pages."""
