// SPDX-License-Identifier: BSD-3-Clause
#include "check.hpp"
#include "report.hpp"

using namespace udtperf;

namespace {

Report example(Role role) {
    Report report;
    report.options.role = role;
    report.payload_bytes = 1456;
    report.peer = "10.0.0.2";
    report.cpu_s = 0.5;
    Interval row;
    row.end_s = 1;
    row.bytes = 12'500'000;
    row.packets = 8600;
    row.retransmits = 3;
    row.lost_packets = 2;
    row.cwnd_packets = 100;
    row.window_packets = 200;
    row.rtt_us = 164'000.6;
    row.period_us = 27.5;
    report.intervals.push_back(row);
    return report;
}

void check_has(const std::string& text, const std::string& part) {
    check(text.find(part) != std::string::npos, "no " + part + " in " + text);
}

} // namespace

TEST(a_senders_row_has_iperf3s_fields_in_iperf3s_units) {
    const std::string text = to_json(example(Role::client));
    check_has(text, "\"intervals\":[{\"streams\":[{\"start\":0.000000,\"end\":1.000000");
    check_has(text, "\"bytes\":12500000,\"bits_per_second\":100000000.000000");
    check_has(text, "\"retransmits\":3,\"snd_cwnd\":145600,\"snd_wnd\":291200,\"rtt\":164000,");
}

TEST(a_receivers_row_has_no_fields_of_a_sender) {
    const std::string text = to_json(example(Role::server));
    check_has(text, "\"bytes\":12500000");
    check(text.find("snd_cwnd") == std::string::npos, "a receiver has a congestion window");
}

TEST(a_receiver_says_when_its_first_interval_began_once_it_has) {
    Report report = example(Role::server);
    check(to_json(report).find("monotonic_ns") == std::string::npos, "it has not begun");
    report.begin_ns = 2'350'961'536;
    check_has(to_json(report), ",\"monotonic_ns\":2350961536},\"intervals\"");
}

TEST(the_end_sums_up_all_rows) {
    Report report = example(Role::client);
    Interval second = report.intervals[0];
    second.start_s = 1;
    second.end_s = 2;
    report.intervals.push_back(second);
    check_has(to_json(report), "\"end\":{\"seconds\":2.000000,\"bytes\":25000000,"
                               "\"bits_per_second\":100000000.000000,\"retransmits\":6,"
                               "\"cpu_utilization_percent\":{\"host_total\":25.000000}}");
}

TEST(an_error_is_named_and_its_absence_is_not) {
    Report report = example(Role::client);
    check(to_json(report).find("\"error\"") == std::string::npos, "an error without one");
    report.error = "a \"quoted\" \\ and\na second line";
    check_has(to_json(report), "\"error\":\"a \\\"quoted\\\" \\\\ and\\u000aa second line\"}\n");
}

TEST(a_transfer_without_rows_is_still_a_report) {
    Report report = example(Role::client);
    report.intervals.clear();
    check_has(to_json(report), "\"intervals\":[],\"end\":{\"seconds\":0.000000,\"bytes\":0");
}

TEST(a_line_for_people_tells_the_rate) {
    const std::string line = to_line(example(Role::client).intervals[0], Role::client);
    check_has(line, "100.0 Mbit/s");
    check_has(line, "164.0 ms");
}
