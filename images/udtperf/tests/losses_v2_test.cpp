// SPDX-License-Identifier: BSD-3-Clause
// The NAK timer against draft-gg-udt-01, sections 3.5 and 3.9.
#include "check.hpp"
#include "losses_v2.hpp"

using namespace udtperf;

namespace {

constexpr double rtt_us = 100'000;
constexpr std::size_t most = 364; // entries in a packet of 1500 bytes
using Entries = std::vector<std::int32_t>;

/// A range as a NAK has it: its first number with the highest bit, then its last.
Entries range(std::int32_t first, std::int32_t last) {
    return {static_cast<std::int32_t>(static_cast<std::uint32_t>(first) | 0x80000000u), last};
}

/// A receiver that misses 11 to 13 and 20, reported at time 0.
LossesV2 with_losses() {
    LossesV2 losses(10);
    for (const std::int32_t sequence : {10, 14, 15, 16, 17, 18, 19, 21})
        losses.on_arrival(sequence, 0);
    return losses;
}

} // namespace

TEST(a_receiver_that_misses_nothing_reports_nothing) {
    LossesV2 losses(5);
    for (std::int32_t sequence = 5; sequence < 100; ++sequence)
        losses.on_arrival(sequence, 0);
    check(losses.none() && losses.report(1e9, rtt_us, most).empty(), "a loss of nothing");
}

TEST(a_loss_is_repeated_two_round_trips_after_its_first_report) {
    LossesV2 losses = with_losses();
    check(losses.report(2 * rtt_us - 1, rtt_us, most).empty(), "repeated too early");
    Entries wanted = range(11, 13);
    wanted.push_back(20);
    check(losses.report(2 * rtt_us, rtt_us, most) == wanted, "not the losses");
}

TEST(each_repetition_waits_a_round_trip_longer) {
    LossesV2 losses = with_losses();
    double now_us = 0;
    for (int reports = 1; reports < 5; ++reports) {
        now_us += (reports + 1) * rtt_us;
        check(losses.report(now_us - 1, rtt_us, most).empty(), "repeated too early");
        check(!losses.report(now_us, rtt_us, most).empty(), "not repeated");
    }
}

TEST(what_arrived_is_not_reported) {
    LossesV2 losses = with_losses();
    losses.on_arrival(12, 0);
    losses.on_arrival(20, 0);
    check(losses.report(2 * rtt_us, rtt_us, most) == Entries({11, 13}), "not 11 and 13");
    losses.on_arrival(11, 0);
    losses.on_arrival(13, 0);
    check(losses.none(), "losses that arrived");
}

TEST(a_packet_that_comes_twice_changes_nothing) {
    LossesV2 losses = with_losses();
    for (const std::int32_t sequence : {10, 15, 21})
        losses.on_arrival(sequence, 0);
    check(losses.report(2 * rtt_us, rtt_us, most).size() == 3, "not the three entries");
}

TEST(a_report_fits_into_a_packet_and_the_rest_follows) {
    LossesV2 losses(0);
    for (std::int32_t sequence = 1; sequence < 2'000; sequence += 2)
        losses.on_arrival(sequence, 0);
    const Entries first = losses.report(2 * rtt_us, rtt_us, most);
    const Entries second = losses.report(2 * rtt_us, rtt_us, most);
    check(first.size() <= most && first.size() + 2 > most, std::to_string(first.size()));
    check(second.front() == first.back() + 2, "the rest does not follow");
}

TEST(losses_are_known_across_the_wrap_of_sequence_numbers) {
    LossesV2 losses(0x7ffffffe);
    losses.on_arrival(0x7ffffffe, 0);
    losses.on_arrival(2, 0);
    check(losses.report(2 * rtt_us, rtt_us, most) == range(0x7fffffff, 1), "not the wrapped range");
    losses.on_arrival(0, 0);
    check(losses.report(9 * rtt_us, rtt_us, most) == Entries({0x7fffffff, 1}), "not the two left");
}
