"""Site: a campaign's results as static pages, a matrix of stacks against paths first."""
