"""Claims that measures of studies decide."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from experiments.cpu_streams import analysis as cpu_streams
from experiments.end_hosts import analysis as end_hosts
from experiments.loss_utilisation import analysis as loss_utilisation
from experiments.mtu_bias import analysis as mtu_bias
from experiments.parallel_streams import analysis as parallel_streams
from experiments.recovery import analysis as recovery
from experiments.response_function import analysis as response
from experiments.rtt_bias import analysis as rtt_bias
from experiments.tuning import analysis as tuning
from experiments.window_cap import analysis as window_cap
from farpath.metrics.measures import Measure
from farpath.metrics.results import ResultSet
from farpath.runs.claims import FAILS, HOLDS, UNDECIDED, judge_all
from farpath.runs.claims.claim import claims
from farpath.runs.claims.judge import judge
from tests.support.study_measures import measure, recoveries


def state_of(name: str, measures: list[Measure]) -> str:
    """What the companion experiments say of a claim, were it one that the lab can decide."""
    claim = next(each for each in claims() if each.id == name)
    results = ResultSet((), measures=tuple(measures))
    return judge(dataclasses.replace(claim, undecidable=""), results).state


def test_without_measures_companion_claims_are_undecided_and_name_their_experiment() -> None:
    verdicts = {verdict.id: verdict for verdict in judge_all(ResultSet(()))}
    for claim in ("C19", "C21", "C22", "C23", "C24", "C27", "C28"):
        assert verdicts[claim].state == UNDECIDED
        assert "needs the experiment" in verdicts[claim].why


def test_a_bit_costs_more_with_many_streams_and_a_third_with_offloads_at_the_common_rate() -> None:
    def costs(values: Mapping[str, float], rate: str = "100") -> list[Measure]:
        measures = []
        for name, value in values.items():
            offloads, streams = name.split()
            about = {"rate": rate, "streams": streams, "offloads": offloads}
            measures.append(measure(cpu_streams.EXPERIMENT, cpu_streams.COST, value, about=about))
        return measures

    few, many = {"off 1": 0.6, "on 1": 0.2}, {"off 40": 0.9, "on 40": 0.3}
    both = costs({**few, **many})
    assert [state_of(claim, both) for claim in ("C19", "C20")] == [HOLDS, HOLDS]
    # Another rate has fewer runs
    again = costs({"off 1": 0.2, "on 1": 0.2}, rate="200")
    assert state_of("C20", [*both, *again]) == HOLDS
    dear = costs({**few, "off 40": 0.5, "on 40": 0.3})
    assert [state_of(claim, dear) for claim in ("C19", "C20")] == [FAILS, FAILS]
    assert [state_of(claim, costs(few)) for claim in ("C19", "C20")] == [UNDECIDED, HOLDS]
    assert state_of("C20", costs({"off 1": 0.6, "on 40": 0.3})) == UNDECIDED


def test_without_records_a_claim_on_cpu_names_the_command_that_makes_them() -> None:
    verdicts = {
        verdict.id: verdict for verdict in judge_all(ResultSet((), measures=(*recoveries(),)))
    }
    remedy = "no records, 'make campaign EXPERIMENT=cpu-streams QEMU=1' makes them"
    assert verdicts["C19"].state == UNDECIDED
    assert remedy in verdicts["C19"].why


def test_twenty_minutes_for_reno_and_seconds_for_the_others_is_what_the_panel_said() -> None:
    assert state_of("C22", recoveries()) == HOLDS
    assert state_of("C22", recoveries(reno_s=300)) == FAILS
    slow = [
        dataclasses.replace(each, value=70.0) if each.about["stack"] == "hstcp_2004" else each
        for each in recoveries()
    ]
    assert state_of("C22", slow) == FAILS
    assert state_of("C22", recoveries()[1:]) == UNDECIDED


def test_the_formula_holds_if_no_path_is_further_than_a_tenth_from_it() -> None:
    def both(acks: str, whole: float, slope: float = 101.0) -> list[Measure]:
        about = {"path": "p", "stack": "reno_2004", "acks": acks, "mtu": "1500"}
        return [
            measure(recovery.EXPERIMENT, recovery.TIME, value, theory=100.0,
                    about={**about, "seen": seen})
            for seen, value in ((recovery.WHOLE, whole), (recovery.SLOPE, slope))
        ]  # fmt: skip

    assert state_of("C23", [*both("each", 105), *both("delayed", 95)]) == HOLDS
    assert state_of("C23", [*both("each", 105), *both("delayed", 80)]) == FAILS
    assert state_of("C23", [*both("each", 105, slope=80), *both("delayed", 95)]) == FAILS
    assert state_of("C23", both("each", 105)) == UNDECIDED
    # Slopes alone are not a recovery that was seen
    assert state_of("C23", [both("each", 105)[1], both("delayed", 95)[1]]) == UNDECIDED


def test_jumbo_frames_are_held_against_the_same_path_without() -> None:
    def one(path: str, mtu: str, value: float) -> Measure:
        about = {"path": path, "stack": "reno_2004", "acks": "each", "mtu": mtu, "drop": "at:1s"}
        return measure(recovery.EXPERIMENT, recovery.TIME, value, about=about)

    pair = [one("a", "1500", 600), one("a-jumbo", "9000", 100)]
    assert state_of("C28", pair) == HOLDS
    assert state_of("C28", [pair[0], one("a-jumbo", "9000", 200)]) == FAILS
    assert state_of("C28", pair[1:]) == UNDECIDED


def test_a_lan_and_a_wan_are_held_against_what_a_loss_of_1e_4_leaves_of_them() -> None:
    def one(path: str, value: float) -> Measure:
        about = {"path": path, "drop": "random:1e-4"}
        return measure(
            loss_utilisation.EXPERIMENT, loss_utilisation.UTILISATION, value, about=about
        )

    assert state_of("C24", [one("lan", 0.99), one("wan", 0.012)]) == HOLDS
    assert state_of("C24", [one("lan", 0.99), one("wan", 0.12)]) == FAILS
    assert state_of("C24", [one("lan", 0.99)]) == UNDECIDED


def test_one_packet_sent_again_is_too_many_for_a_capped_window() -> None:
    def both(again: float, with_wider: float = 7.0) -> list[Measure]:
        about = {"ip": "4", "seconds": "30"}
        experiment, wider = window_cap.EXPERIMENT, window_cap.RETRANSMITTED_WIDER
        return [
            measure(experiment, wider, with_wider, about=about),
            measure(window_cap.EXPERIMENT, window_cap.RETRANSMITTED, again, about=about),
            measure(window_cap.EXPERIMENT, window_cap.UTILISATION, 0.99, about=about),
        ]

    assert state_of("C27", both(0)) == HOLDS
    assert state_of("C27", both(1)) == FAILS
    # A path that no window makes lose anything does not show what a cap is worth
    assert state_of("C27", both(0, with_wider=0)) == FAILS
    assert state_of("C27", both(0)[1:]) == UNDECIDED


def test_windows_that_losses_hold_are_judged_by_what_is_printed_in_closed_form() -> None:
    def one(stack: str, value: float, limit: str, seeds: int = 3) -> list[Measure]:
        about = {"stack": stack, "limit": limit, "drop": "random:1e-3", "loss": "1e-3"}
        return [
            measure(
                response.EXPERIMENT, response.WINDOW, value, theory=value, about=about, seed=seed
            )
            for seed in range(1, seeds + 1)
        ]  # fmt: skip

    # Reno's sqrt(1.5 / p) is 38.7 packets, LTCP's sqrt(6.17 x 2 / p) 111
    good = [*one("reno_2004", 40, "loss"), *one("ltcp", 100, "loss")]
    assert state_of("C21", [*good, *one("scalable_2004", 20, "path")]) == HOLDS
    # Scalable's 0.01 / (p ln 8/7) is 74.9, though the simulation says what was measured
    assert state_of("C21", [*good, *one("scalable_2004", 20, "loss")]) == FAILS
    # BIC has no closed form
    assert state_of("C21", [*good, *one("bic_2004", 20, "loss")]) == HOLDS
    assert state_of("C21", one("bic_2004", 20, "loss")) == UNDECIDED
    # Chance decides one run
    assert state_of("C21", one("scalable_2004", 20, "loss", seeds=1)) == UNDECIDED


def test_how_two_flows_share_is_not_decided_by_one_run() -> None:
    def ratios(values: Mapping[str, float], seeds: Iterable[int]) -> list[Measure]:
        return [
            measure(rtt_bias.EXPERIMENT, mtu_bias.RATIO, value, about={"senders": f"rtt={rtt}"},
                    seed=seed)
            for rtt, value in values.items() for seed in seeds
        ]  # fmt: skip

    both = {"172ms": 2.5, "181ms": 2.6}
    assert state_of("C26", ratios(both, [1])) == UNDECIDED
    assert state_of("C26", ratios(both, [1, 2, 3])) == HOLDS
    # Each printed RTT has to show it
    assert state_of("C26", ratios({**both, "172ms": 0.8}, [1, 2, 3])) == FAILS
    assert state_of("C26", ratios({"181ms": 2.6}, [1, 2, 3])) == UNDECIDED


def test_two_new_stacks_have_to_do_well_at_a_high_loss_on_every_path() -> None:
    def throughputs(seed: int = 1, **mbps: float) -> list[Measure]:
        return [
            measure(response.EXPERIMENT, response.THROUGHPUT, value, seed=seed,
                    about={"path": "mb-ng", "drop": "random:1e-3", "stack": stack})
            for stack, value in mbps.items()
        ]  # fmt: skip

    assert state_of("C34", throughputs(reno_2004=78, fast=664, bic_2004=285)) == HOLDS
    assert state_of("C34", throughputs(reno_2004=78, fast=664, bic_2004=120)) == FAILS
    assert state_of("C34", throughputs(fast=664, bic_2004=120)) == UNDECIDED
    # Each seed counts, whichever stacks are its best
    first = throughputs(reno_2004=78, fast=664, bic_2004=285)
    second = throughputs(2, reno_2004=78, fast=285, bic_2004=664, ltcp=300)
    (claim,) = (each for each in claims() if each.id == "C34")
    assert set(judge(claim, ResultSet((), measures=(*first, *second))).by_seed) == {1, 2}


def test_fast_recovers_in_several_seconds_and_not_in_one() -> None:
    def fast(value: float) -> list[Measure]:
        about = {"path": "datatag-128", "stack": "fast", "acks": "delayed"}
        return [measure(recovery.EXPERIMENT, recovery.TIME, value, about=about)]

    assert [state_of("C37", fast(value)) for value in (4, 1.3, 60)] == [HOLDS, FAILS, FAILS]


def test_sack_is_held_against_its_absence_and_ipv6_against_ipv4() -> None:
    def pair(experiment: str, option: str, values: Mapping[str, float]) -> list[Measure]:
        return [
            measure(experiment, "throughput", value, about={option: name})
            for name, value in values.items()
        ]

    def tuned(path: str, with_sack: float, without: float) -> list[Measure]:
        return [
            measure(tuning.EXPERIMENT, tuning.THROUGHPUT, value,
                    about={"path": path, "mechanism": mechanism})
            for mechanism, value in (("without-sack", with_sack), ("tuned", without))
        ]  # fmt: skip

    slower, faster = (
        [*tuned("geneva-chicago", 300, 700), *tuned("land-speed", with_sack, 5000)]
        for with_sack in (4000, 6000)
    )
    assert [state_of("C38", measures) for measures in (slower, faster)] == [HOLDS, FAILS]
    assert state_of("C38", [each for each in slower if each.value != 300]) == UNDECIDED
    as_printed = pair(window_cap.EXPERIMENT, "ip", {"4": 5640, "6": 4000})
    alike = pair(window_cap.EXPERIMENT, "ip", {"4": 9918, "6": 9905})
    assert [state_of("C43", measures) for measures in (as_printed, alike)] == [HOLDS, FAILS]


def test_runs_of_exact_hosts_do_not_count_beside_those_with_jitter() -> None:
    def ratio(value: float, seed: int, **more: str) -> Measure:
        about = {"senders": "mtu=1500", **more}
        return measure(mtu_bias.EXPERIMENT, mtu_bias.RATIO, value, about=about, seed=seed)

    jittered = [ratio(7.0, seed, jitter="72") for seed in (1, 2, 3)]
    assert state_of("C25", [ratio(1.1, 1), *jittered]) == HOLDS
    assert state_of("C25", [ratio(7.0, seed) for seed in (1, 2, 3)]) == HOLDS


def of_tuning(quantity: str, mechanism: str, *values: float, seed: int = 1) -> list[Measure]:
    """A quantity on the first paths of the experiment."""
    return [
        measure(
            tuning.EXPERIMENT, quantity, value, seed=seed,
            about={"path": path, "mechanism": mechanism},
        )
        for path, value in zip(("geneva-chicago", "land-speed"), values, strict=False)
    ]  # fmt: skip


def test_a_setting_matters_if_it_does_on_each_path() -> None:
    tuned = of_tuning(tuning.THROUGHPUT, "tuned", 900, 6000)
    short = of_tuning(tuning.THROUGHPUT, "without-txqueue", 300, 6000)
    assert state_of("C39", tuned) == UNDECIDED
    assert state_of("C39", [*tuned, *short]) == FAILS
    short = of_tuning(tuning.THROUGHPUT, "without-txqueue", 300, 5000)
    assert state_of("C39", [*tuned, *short]) == HOLDS
    filled = of_tuning(tuning.FILL_TIME, "tuned", 3, 4)
    cached = of_tuning(tuning.FILL_TIME, "without-cache", 60, 60)
    assert state_of("C40", [*filled, *cached]) == HOLDS
    early = of_tuning(tuning.FILL_TIME, "without-cache", 3, 60)
    assert state_of("C40", [*filled, *early]) == FAILS


def test_one_path_does_not_decide_what_is_said_of_each() -> None:
    tuned = of_tuning(tuning.THROUGHPUT, "tuned", 900, 6000)
    short = of_tuning(tuning.THROUGHPUT, "without-txqueue", 300, 5000)
    assert state_of("C39", [tuned[0], short[0]]) == UNDECIDED
    # Nor do both kinds of host on different paths
    assert state_of("C39", [tuned[0], short[1]]) == UNDECIDED


def test_a_setting_is_judged_by_the_mean_over_seeds() -> None:
    tuned = [each for seed in (1, 2) for each in of_tuning(tuning.THROUGHPUT, "tuned", 900, 6000,
                                                          seed=seed)]  # fmt: skip
    # Means of 1000 Mbit/s, though the last seed alone says that the short queue is slower
    short = [
        *of_tuning(tuning.THROUGHPUT, "without-txqueue", 1500, 5000, seed=1),
        *of_tuning(tuning.THROUGHPUT, "without-txqueue", 500, 5000, seed=2),
    ]
    verdicts = judge_all(ResultSet((), measures=(*tuned, *short)))
    verdict = next(each for each in verdicts if each.id == "C39")
    assert [result.condition.value for result in verdict.criteria] == [1000, 5000]
    assert verdict.state != HOLDS


def test_a_wide_area_is_compared_with_a_fibre_pair_between_the_same_hosts() -> None:
    def total(path: str, streams: str, value: float, toe: str = "yes") -> Measure:
        about = {"path": path, "streams": streams, "window": "2000000", "toe": toe}
        return measure(parallel_streams.EXPERIMENT, parallel_streams.SUM, value, about=about)

    wide = total("pittsburgh-sunnyvale", "16", 6500)
    assert state_of("C41", [wide, total("booth", "40", 6550)]) == HOLDS
    assert state_of("C41", [wide, total("booth", "40", 7500)]) == FAILS
    assert state_of("C41", [wide, total("booth", "40", 6550, toe="no")]) == UNDECIDED


def test_udt_is_held_against_streams_of_the_same_hosts() -> None:
    def total(stack: str, streams: str, value: float, **more: str) -> Measure:
        about = {"path": "booth", "stack": stack, "streams": streams, "toe": "no", **more}
        return measure(parallel_streams.EXPERIMENT, parallel_streams.SUM, value, about=about)

    streams = [total("reno_2004", "40", 7460), total("reno_2004", "50", 9999)]
    assert state_of("C42", [*streams, total("udt", "1", 4450)]) == HOLDS
    assert state_of("C42", [*streams, total("udt", "1", 7000)]) == FAILS
    assert state_of("C42", [*streams, total("udt", "1", 4450, toe="yes")]) == UNDECIDED


def test_hosts_are_judged_by_clock_load_and_distance() -> None:
    def host(cpu: str, rtt: str, load: str, value: float) -> Measure:
        about = {"cpu": cpu, "rtt": rtt, "load": load, "processors": "1"}
        return measure(end_hosts.EXPERIMENT, end_hosts.THROUGHPUT, value, about=about)

    near = [host("1.2", "1", "0", 910), host("2.8", "1", "0", 956)]
    loads = [host("1.2", "1", "3", 230), host("2.8", "1", "3", 530)]
    assert state_of("C44", [*near, *loads]) == HOLDS
    assert state_of("C45", [*near, *loads]) == FAILS
    assert state_of("C45", [*near, host("2.8", "1", "3", 950)]) == HOLDS
    assert state_of("C44", near) == UNDECIDED
    assert state_of("C44", [*near, host("1.2", "1", "3", 910)]) == FAILS
    far = [host("1.2", "15", "0", 910), host("2.8", "15", "0", 956)]
    assert state_of("C46", [*near, *far]) == FAILS
    assert state_of("C46", [*near, far[0], host("2.8", "15", "0", 770)]) == HOLDS
    assert state_of("C46", [*near, far[0]]) == UNDECIDED


def test_buffers_have_to_be_worth_twenty_times_and_bursts_a_third() -> None:
    tuned = of_tuning(tuning.THROUGHPUT, "tuned", 900, 6000)
    narrow = of_tuning(tuning.THROUGHPUT, "without-buffers", 4, 3)
    assert state_of("C47", [*tuned, *narrow]) == HOLDS
    assert state_of("C47", [*tuned, *of_tuning(tuning.THROUGHPUT, "without-buffers", 4, 400)]) == (
        FAILS
    )
    assert state_of("C47", [*tuned, narrow[0]]) == UNDECIDED
    for burst, state in ((4600, HOLDS), (2700, FAILS)):
        short = of_tuning(tuning.THROUGHPUT, "without-burst", 900, burst)
        assert state_of("C48", [*tuned, *short]) == state


def test_what_hosts_limit_decides_nothing_of_the_path() -> None:
    def both(utilisation: float, again: float, **host: str) -> list[Measure]:
        about = {"ip": "4", "seconds": "600", **host}
        return [
            measure(window_cap.EXPERIMENT, window_cap.RETRANSMITTED, again, about=about),
            measure(window_cap.EXPERIMENT, window_cap.UTILISATION, utilisation, about=about),
        ]

    experiment, wider = window_cap.EXPERIMENT, window_cap.RETRANSMITTED_WIDER
    lossy = measure(experiment, wider, 7.0, about={"ip": "4", "seconds": "60"})
    limited = [*both(0.5, 7, host="2004"), lossy]
    assert state_of("C27", [*both(0.99, 0), *limited]) == HOLDS
    assert state_of("C27", limited) == UNDECIDED


def test_a_claim_that_the_lab_cannot_decide_says_why() -> None:
    verdicts = {verdict.id: verdict for verdict in judge_all(ResultSet(()))}
    undecidable = [claim for claim in claims() if claim.undecidable]
    assert undecidable
    for claim in undecidable:
        assert verdicts[claim.id].state == UNDECIDED
        assert verdicts[claim.id].why == f"cannot be decided by this lab: {claim.undecidable}"


def test_a_claim_that_the_lab_cannot_decide_shows_its_numbers_all_the_same() -> None:
    tuned = of_tuning(tuning.THROUGHPUT, "tuned", 4, 9000)
    short = of_tuning(tuning.THROUGHPUT, "without-burst", 4, 4000)
    verdicts = judge_all(ResultSet((), measures=(*tuned, *short)))
    bursts = next(verdict for verdict in verdicts if verdict.id == "C48")
    assert bursts.state == UNDECIDED
    assert "land-speed: tuned over all but bursts 2.25 not <= 1.4" in bursts.numbers()
