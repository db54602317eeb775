// SPDX-License-Identifier: BSD-3-Clause
// Tests as sentences: TEST(name_of_what_holds) { check(...); }
#ifndef UDTPERF_CHECK_HPP
#define UDTPERF_CHECK_HPP

#include <functional>
#include <string>
#include <vector>

struct Test {
    std::string name;
    std::function<void()> body;
};

inline std::vector<Test>& tests() {
    static std::vector<Test> all;
    return all;
}

struct Registered {
    Registered(const char* name, void (*body)()) { tests().push_back({name, body}); }
};

/// Fails the running test unless `holds`; `what` says what was found.
void check(bool holds, const std::string& what);
/// The same for two numbers that may differ by a part of the second.
void check_near(double found, double wanted, double part, const std::string& what);

#define TEST(name)                                                                                 \
    static void name();                                                                            \
    static const Registered registered_##name(#name, name);                                        \
    static void name()

#endif
