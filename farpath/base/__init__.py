"""What every room stands on: errors, files, locks, documents, and where the project lies."""
