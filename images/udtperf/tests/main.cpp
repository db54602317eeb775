// SPDX-License-Identifier: BSD-3-Clause
#include "check.hpp"

#include <cmath>
#include <cstdio>
#include <stdexcept>

void check(bool holds, const std::string& what) {
    if (!holds)
        throw std::runtime_error(what);
}

void check_near(double found, double wanted, double part, const std::string& what) {
    if (!(std::abs(found - wanted) <= std::abs(wanted) * part))
        throw std::runtime_error(what + ": found " + std::to_string(found) + ", wanted " +
                                 std::to_string(wanted) + " within a part of " +
                                 std::to_string(part));
}

int main() {
    int failed = 0;
    for (const auto& test : tests()) {
        try {
            test.body();
            std::printf("ok %s\n", test.name.c_str());
        } catch (const std::exception& error) {
            ++failed;
            std::printf("FAILED %s: %s\n", test.name.c_str(), error.what());
        }
    }
    std::printf("%zu tests, %d failed\n", tests().size(), failed);
    return failed ? 1 : 0;
}
