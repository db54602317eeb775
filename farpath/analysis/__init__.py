"""The analysis of records: metrics, theory, published values, studies and claims."""
