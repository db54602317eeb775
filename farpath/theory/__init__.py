"""Theory: what published rules predict of a flow, without a lab. Pure."""
