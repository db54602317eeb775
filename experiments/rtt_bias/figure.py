"""The figure of flows that differ in RTT, which is that of flows that differ in MTU."""

from experiments.mtu_bias.figure import figures_of

from . import analysis

figures = figures_of(analysis.EXPERIMENT)
