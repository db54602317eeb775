"""The regression suite: whether and how a change altered the behaviour of stacks."""
