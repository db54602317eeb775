"""Foundations that every other package uses: errors, files, locks, documents, project paths."""
