// SPDX-License-Identifier: BSD-3-Clause
#include "controls.hpp"
#include "options.hpp"
#include "report.hpp"
#include "transfer.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>

using namespace udtperf;

namespace {

void print(std::FILE* to, const std::string& text) {
    std::fputs(text.c_str(), to);
    std::fflush(to);
}

int run(const Options& options) {
    const auto watch = [&](const Interval& interval) {
        if (!options.json)
            print(stdout, to_line(interval, options.role) + "\n");
    };
    const auto control = control_factory(options);
    const Report report = transfer(options, control.get(), watch);
    if (options.json)
        print(stdout, to_json(report));
    else if (!report.error.empty())
        print(stderr, "udtperf: " + report.error + "\n");
    return report.error.empty() ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const char* clock = std::getenv("FARPATH_CLOCK");
        const auto parsed =
            parse_options(std::vector<std::string>(argv + 1, argv + argc), clock ? clock : "");
        if (const auto* answer = std::get_if<Answer>(&parsed)) {
            print(answer->status ? stderr : stdout, answer->text);
            return answer->status;
        }
        return run(std::get<Options>(parsed));
    } catch (const Refusal& refusal) {
        print(stderr, std::string("udtperf: ") + refusal.what() + "\n");
        return bad_input;
    } catch (const std::exception& error) {
        print(stderr, std::string("udtperf: BUG: ") + error.what() + "\n");
        return 1;
    }
}
