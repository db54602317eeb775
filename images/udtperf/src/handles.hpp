// SPDX-License-Identifier: BSD-3-Clause
// What must be given back: descriptors, signals, libudt itself.
#ifndef UDTPERF_HANDLES_HPP
#define UDTPERF_HANDLES_HPP

#include <udt/udt.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace udtperf {

/// A transfer cannot go on; the message is for the report.
class Failure : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Library {
  public:
    Library() { UDT::startup(); }
    ~Library() { UDT::cleanup(); }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
};

class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {
        if (fd < 0)
            throw Failure(std::string("no descriptor: ") + std::strerror(errno));
    }
    ~Descriptor() { ::close(fd_); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return fd_; }

  private:
    int fd_;
};

/// SIGTERM and SIGINT as something to wait for. To be made before any thread.
class Signals {
  public:
    Signals() {
        sigemptyset(&set_);
        sigaddset(&set_, SIGTERM);
        sigaddset(&set_, SIGINT);
        pthread_sigmask(SIG_BLOCK, &set_, &before_);
    }
    ~Signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;
    const sigset_t& set() const { return set_; }

  private:
    sigset_t set_{};
    sigset_t before_{};
};

} // namespace udtperf

#endif
