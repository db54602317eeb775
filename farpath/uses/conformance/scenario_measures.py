"""The measures that scenarios name: functions of a record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from farpath.uses.conformance import (
    bbr_phases,
    connection_start,
    cubic_epochs,
    losses,
    marks,
    queues_and_shares,
    spurious_losses,
)

if TYPE_CHECKING:
    from farpath.record.record import Record
    from farpath.uses.conformance.trace_parts import Measured

Measure = Callable[["Record"], "Measured"]
#: All measures by the names of their functions.
MEASURES: Mapping[str, Measure] = {
    measure.__name__: measure
    for measure in (
        connection_start.initial_window,
        connection_start.growth_per_round,
        connection_start.growth_after_exit,
        connection_start.lost_in_slow_start,
        losses.kept_fraction,
        losses.window_after_recovery,
        losses.growth_per_rtt,
        losses.sacked_at_retransmission,
        losses.retransmissions,
        losses.rtts_between_repairs,
        losses.loss_window,
        losses.sent_again_from_timeout,
        losses.kept_after_timeout,
        losses.timeout_growth,
        losses.least_timeout_s,
        losses.mean_window_of_reno,
        losses.mean_window_of_cubic,
        spurious_losses.window_after_spurious_timeout,
        spurious_losses.window_after_spurious_loss,
        cubic_epochs.constant_c,
        cubic_epochs.time_to_w_max_s,
        cubic_epochs.curve_deviation,
        cubic_epochs.plateau_after_smaller_window,
        cubic_epochs.reno_friendly_gain,
        cubic_epochs.gain_beyond_prior_window,
        bbr_phases.startup_gain,
        bbr_phases.drain_gain,
        bbr_phases.flight_after_drain,
        bbr_phases.most_probe_gain,
        bbr_phases.least_probe_gain,
        bbr_phases.window_gain,
        bbr_phases.probe_rtt_after_s,
        bbr_phases.probe_rtt_lasts_s,
        bbr_phases.probe_rtt_window,
        bbr_phases.probe_rtt_window_fraction,
        bbr_phases.cruise_gain,
        bbr_phases.least_probe_wait_s,
        bbr_phases.most_probe_wait_s,
        bbr_phases.probe_wait_rounds,
        bbr_phases.longterm_of_path,
        bbr_phases.cruise_window_of_longterm,
        bbr_phases.window_after_loss_between_probes,
        marks.kept_at_a_mark,
        marks.queueing_delay_ms,
        queues_and_shares.standing_queue,
        queues_and_shares.fraction_sent_again,
        queues_and_shares.payload_utilisation,
        queues_and_shares.jain_fairness,
        queues_and_shares.share_left,
        queues_and_shares.media_loss,
        queues_and_shares.media_delay_ms,
        queues_and_shares.payload_utilisation_at_the_end,
        queues_and_shares.payload_utilisation_beside_short_flows,
        queues_and_shares.short_flow_completion,
    )
}
