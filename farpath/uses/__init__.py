"""Uses: questions asked of many runs, a folder each: question, measure, verdict, page."""
