// SPDX-License-Identifier: BSD-3-Clause
// The window rules against RFC 5681, RFC 3649 and Kelly's Scalable TCP.
#include "check.hpp"
#include "rules_window.hpp"

using namespace udtperf;

namespace {

constexpr double rtt_us = 100'000;
constexpr double most_packets = 25'600;
constexpr double exact = 1e-12;

/// A flow whose sender always has its window on its way.
class Flow {
  public:
    explicit Flow(WindowLaw law) : rules(law, most_packets, 1) {}

    /// A round trip: an ACK for each two packets of the window.
    void round_trip() {
        const int acks = static_cast<int>(rules.window_packets() / 2);
        for (int i = 0; i < acks; ++i)
            rules.on_ack(acked += 2);
    }
    std::int32_t sent() const {
        return acked + static_cast<std::int32_t>(rules.window_packets()) - 1;
    }
    void lose_one() { rules.on_nak({acked, sent(), 1}); }
    void mend(std::int32_t sent_before) { rules.on_ack(acked = sent_before + 1); }
    /// Past a slow start that a loss has ended at a window of about `packets`.
    void settle(double packets) {
        while (rules.window_packets() < packets)
            round_trip();
        lose();
    }
    void lose() {
        const auto last = sent();
        lose_one();
        mend(last);
    }

    std::int32_t acked = 1;
    WindowRules rules;
};

} // namespace

TEST(reno_adds_a_packet_in_a_round_trip_and_halves) {
    Flow flow(WindowLaw::reno);
    flow.settle(1'000);
    const double before = flow.rules.window_packets();
    check_near(before, 512, 0.001, "half of 1024");
    for (int i = 0; i < 10; ++i)
        flow.round_trip();
    check_near(flow.rules.window_packets() - before, 10, 0.01, "ten round trips");
}

TEST(a_slow_start_doubles_the_window_in_a_round_trip) {
    Flow flow(WindowLaw::reno);
    for (int i = 0; i < 6; ++i)
        flow.round_trip();
    check_near(flow.rules.window_packets(), 128, exact, "2 packets, doubled six times");
}

TEST(hstcp_has_the_decreases_and_increases_of_the_rfcs_table) {
    // RFC 3649, appendix B: w, a(w) and b(w), which the table rounds
    struct Row {
        double window, increase, decrease;
    };
    for (const Row row : {Row{38, 1, 0.50},
                          {1'058, 8, 0.33},
                          {10'661, 30, 0.21},
                          {47'434, 57, 0.13},
                          {83'981, 70, 0.10}}) {
        const double increase = row.window * growth_packets(WindowLaw::hstcp, row.window);
        check_near(increase, row.increase, 0.06, "increase at " + std::to_string(row.window));
        check_near(1 - kept_part(WindowLaw::hstcp, row.window), row.decrease, 0.03,
                   "decrease at " + std::to_string(row.window));
    }
}

TEST(scalable_adds_a_hundredth_of_a_packet_and_keeps_seven_eighths) {
    check_near(growth_packets(WindowLaw::scalable, 1'000), 0.01, exact, "growth");
    check_near(kept_part(WindowLaw::scalable, 1'000), 0.875, exact, "kept");
    check_near(growth_packets(WindowLaw::scalable, 10), 0.1, exact, "Reno's at small windows");
    check_near(kept_part(WindowLaw::scalable, 10), 0.5, exact, "Reno's at small windows");
}

TEST(losses_of_one_window_decrease_it_once) {
    Flow flow(WindowLaw::reno);
    flow.settle(1'000);
    const double before = flow.rules.window_packets();
    const auto last = flow.sent();
    for (int i = 0; i < 20; ++i)
        flow.rules.on_nak({flow.acked + i, last + i, 1});
    flow.mend(last + 20);
    check_near(flow.rules.window_packets(), before / 2, 0.01, "halved once");
}

TEST(while_a_loss_is_mended_half_of_the_window_leaves_in_a_round_trip) {
    Flow flow(WindowLaw::reno);
    flow.settle(1'000);
    const double before = flow.rules.window_packets();
    flow.lose_one();
    check_near(flow.rules.window_packets(), before * 1.5, 0.01, "old flight and half of it");
    check_near(rtt_us / flow.rules.period_us(rtt_us), before / 2, 0.01, "packets in a round trip");
}

TEST(a_timeout_starts_again_with_two_packets) {
    Flow flow(WindowLaw::scalable);
    flow.settle(1'000);
    const double before = flow.rules.window_packets();
    flow.rules.on_timeout(flow.sent());
    check_near(flow.rules.window_packets(), 2, exact, "first window");
    while (flow.rules.window_packets() < before / 2 - 1)
        flow.round_trip();
    const double half = flow.rules.window_packets();
    flow.round_trip();
    check_near(flow.rules.window_packets(), half * 1.01, 0.02, "slow start ended at half");
}

TEST(after_a_timeout_old_losses_decrease_nothing) {
    Flow flow(WindowLaw::reno);
    flow.settle(1'000);
    const double before = flow.rules.window_packets();
    const auto last = flow.sent();
    flow.rules.on_timeout(last);
    flow.rules.on_nak({last, last, 200});
    check_near(flow.rules.window_packets(), 2, exact, "still the first window");
    flow.mend(last);
    check_near(flow.rules.window_packets(), before / 2, 0.01, "the slow start goes on to half");
}

TEST(a_window_is_never_larger_than_what_may_be_in_flight) {
    Flow flow(WindowLaw::scalable);
    for (int i = 0; i < 30; ++i)
        flow.round_trip();
    check_near(flow.rules.window_packets(), most_packets, exact, "window");
}
