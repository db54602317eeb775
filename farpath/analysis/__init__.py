"""From records to numbers: metrics, theory, published values, studies, claims. Nothing boots."""
