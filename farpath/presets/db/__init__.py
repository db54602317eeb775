"""Preset db: pgbench at a distance from PostgreSQL."""
