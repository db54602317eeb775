"""Tables: their cells, what writes them, and each kind of them."""
