"""From numbers to tables, figures, pages and sites."""
