"""Ethernet: what a frame has in addition to its IP packet."""

#: Size of an Ethernet header, as tc counts it: without preamble and check sum.
ETHERNET_HEADER_BYTES = 14
