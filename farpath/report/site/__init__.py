"""A set of records as static pages."""
