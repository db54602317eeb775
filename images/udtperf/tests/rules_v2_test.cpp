// SPDX-License-Identifier: BSD-3-Clause
// The rules against the formulas of draft-gg-udt-01, sections 3.6 and 3.7.
#include "check.hpp"
#include "rules_v2.hpp"

#include <cmath>

using namespace udtperf;

namespace {

constexpr int mss = 1500;
constexpr double exact = 1e-12;     // double arithmetic in another order
constexpr double link_pps = 37'500; // 450 Mbit/s in packets of 1500 bytes
constexpr double rtt_us = 164'000;

/// A flow past its quick start, its clock, and ACKs as they come each SYN.
class Flow {
  public:
    explicit Flow(double window = 4'000) : rules(mss, 25'600, 1'000) {
        ack(static_cast<std::uint64_t>(window));
        lose(2'000, 1, 1'999);
        ack(static_cast<std::uint64_t>(window));
    }
    void ack(std::uint64_t acked = 0, double arrival_pps = 0) {
        now_us += syn_us;
        rules.on_ack({now_us, acked, link_pps, arrival_pps, rtt_us});
    }
    void send(int packets) {
        while (packets--)
            rules.on_sent();
    }
    void lose(std::int32_t sequence, std::uint64_t packets, std::int32_t sent) {
        rules.on_nak({sequence, sent, packets});
    }

    double now_us = 0;
    RulesV2 rules;
};

} // namespace

TEST(the_increase_is_a_packet_for_each_decade_of_spare_gigabits) {
    // Beta = 1.5e-6 makes it 1 packet of 1500 bytes above 100 Mbit/s of spare bandwidth
    struct Row {
        double spare_mbps;
        double packets;
    };
    for (const Row row : {Row{5'000, 10},
                          {1'000, 1},
                          {999, 1},
                          {101, 1},
                          {99, 0.1},
                          {9, 0.01},
                          {0.9, 0.001},
                          {0.05, 1.0 / mss},
                          {0, 1.0 / mss},
                          {-5, 1.0 / mss}}) {
        const double rate_pps = 10'000;
        const double found =
            increase_packets(rate_pps + row.spare_mbps * 1e6 / (mss * 8), rate_pps, mss);
        check_near(found, row.packets, 1e-9, "spare " + std::to_string(row.spare_mbps));
    }
}

TEST(a_new_period_sends_inc_packets_more_in_a_syn) {
    for (const double period_us : {1.0, 26.7, 500.0})
        for (const double inc : {10.0, 1.0, 0.01})
            check_near(syn_us / faster_period_us(period_us, inc), syn_us / period_us + inc, exact,
                       "packets in a SYN");
}

TEST(the_quick_start_is_a_window_of_all_acknowledged_packets) {
    RulesV2 rules(mss, 25'600, 0);
    check(rules.window_packets() == 16 && rules.period_us() == 1, "not the draft's start");
    rules.on_ack({syn_us, 16, 0, 0, rtt_us});
    rules.on_ack({2 * syn_us, 5'000, link_pps, 9'000, rtt_us});
    check(rules.window_packets() == 5'000 && rules.period_us() == 1, "the quick start ended");
}

TEST(the_first_loss_ends_the_quick_start_at_a_window_in_a_round_trip) {
    Flow flow(4'000);
    check_near(flow.rules.period_us(), (rtt_us + syn_us) / 4'000, exact, "period");
}

TEST(the_largest_window_ends_the_quick_start) {
    RulesV2 rules(mss, 8'000, 0);
    rules.on_ack({syn_us, 9'000, link_pps, 0, rtt_us});
    check(rules.window_packets() == 8'000, "window beyond the largest");
    check_near(rules.period_us(), (rtt_us + syn_us) / 8'000, exact, "period");
}

TEST(the_window_follows_the_arrival_speed_by_an_eighth) {
    Flow flow(4'000);
    flow.ack(0, 20'000);
    check(flow.rules.window_packets() == std::ceil(4'000 * 0.875 + 0.02 * (rtt_us + syn_us) / 8),
          "found " + std::to_string(flow.rules.window_packets()));
    const double before = flow.rules.window_packets();
    flow.ack(0, 0);
    check(flow.rules.window_packets() == before, "no speed known, but the window moved");
}

TEST(a_syn_without_loss_lets_the_rate_grow) {
    Flow flow;
    flow.send(100);
    flow.ack();
    const double before = flow.rules.period_us();
    flow.send(100);
    flow.ack();
    const double inc = increase_packets(link_pps, 1e6 / before, mss);
    check_near(syn_us / flow.rules.period_us(), syn_us / before + inc, exact, "rate");
}

TEST(a_second_ack_in_the_same_syn_changes_nothing) {
    Flow flow;
    flow.ack();
    const double before = flow.rules.period_us();
    flow.rules.on_ack({flow.now_us + syn_us - 1, 0, link_pps, 0, rtt_us});
    check(flow.rules.period_us() == before, "the rate grew twice in a SYN");
}

TEST(more_than_one_packet_lost_in_a_thousand_stops_the_increase) {
    for (const bool grows : {true, false}) {
        Flow flow;
        flow.send(1'000);
        flow.ack();
        flow.send(1'000);
        // The NAK may lengthen the period by itself, so the one after it counts
        flow.lose(1'500, grows ? 1 : 2, 3'000);
        const double before = flow.rules.period_us();
        flow.ack();
        check((flow.rules.period_us() < before) == grows,
              grows ? "a loss of 0.1 % stopped it" : "a loss of 0.2 % did not");
    }
}

TEST(a_new_loss_lengthens_the_period_by_an_eighth) {
    Flow flow;
    const double before = flow.rules.period_us();
    flow.lose(5'000, 1, 6'000);
    check_near(flow.rules.period_us(), before * 9 / 8, exact, "period");
    check(flow.rules.pauses(), "no pause of a SYN after the decrease");
}

TEST(losses_of_one_congestion_decrease_five_times_at_most) {
    Flow flow;
    const double before = flow.rules.period_us();
    flow.lose(10'000, 1, 10'500);
    for (int nak = 0; nak < 800; ++nak)
        flow.lose(9'000, 1, 10'500);
    check_near(flow.rules.period_us(), before * std::pow(9.0 / 8, 5), exact, "period");
}

TEST(losses_of_one_congestion_decrease_once_in_dr_naks) {
    Flow flow;
    flow.lose(10'000, 1, 10'500);
    for (int nak = 0; nak < 800; ++nak)
        flow.lose(9'000, 1, 10'500);
    // AvgNAK will be 100, an eighth of 800: of 100 NAKs one or more decrease, but not
    // the first five, as they would with DR = 1
    flow.lose(20'000, 1, 20'500);
    const double before = flow.rules.period_us();
    int naks_to_first = 0;
    while (flow.rules.period_us() == before && naks_to_first < 101) {
        ++naks_to_first;
        flow.lose(19'000, 1, 20'500);
    }
    check(naks_to_first > 1 && naks_to_first <= 101, "after " + std::to_string(naks_to_first));
    for (int nak = 1; nak < naks_to_first; ++nak)
        flow.lose(19'000, 1, 20'500);
    check_near(flow.rules.period_us(), before * 9 / 8, exact, "a second decrease came early");
}

TEST(a_period_is_no_longer_than_a_round_trip) {
    Flow flow;
    for (std::int32_t epoch = 1; epoch < 200; ++epoch)
        flow.lose(10'000 * epoch, 1, 10'000 * epoch + 500);
    check(flow.rules.period_us() == rtt_us, "period " + std::to_string(flow.rules.period_us()));
}

TEST(equal_flows_take_equal_decisions) {
    Flow one;
    Flow two;
    for (int nak = 1; nak < 500; ++nak)
        for (Flow* flow : {&one, &two})
            flow->lose(nak % 7 ? 3'000 : 3'000 * nak, 1, 3'000 * nak + 100);
    check(one.rules.period_us() == two.rules.period_us(), "the random choices differ");
}

TEST(a_nak_names_single_packets_and_ranges) {
    const auto from = [](std::int32_t first) {
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(first) | 0x80000000u);
    };
    const std::int32_t late = 0x7ffffff0;
    for (const std::int32_t base : {0, 1'752'172'449, late}) {
        const std::int32_t range[] = {from(base), base + 1};
        const NakNews one = read_nak(range, 2);
        check(one.lost_packets == 2 && one.largest_lost == base + 1, "a range alone");
        const std::int32_t mixed[] = {base, from(base + 2), base + 5, base + 7};
        const NakNews more = read_nak(mixed, 4);
        check(more.lost_packets == 6 && more.largest_lost == base + 7, "a range among others");
    }
}

TEST(sequence_numbers_wrap_at_31_bits) {
    check(is_after(1, 0) && !is_after(0, 1) && !is_after(5, 5), "plain order");
    check(is_after(0, 0x7fffffff) && !is_after(0x7fffffff, 0), "wrapped order");
}
