"""The analysis of the 2005 study: results of many records, published values, studies, claims."""
