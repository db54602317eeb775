// SPDX-License-Identifier: BSD-3-Clause
#include "controls.hpp"

#include "control_v2.hpp"
#include "control_window.hpp"

#include <dlfcn.h>

#include <functional>

namespace udtperf {

namespace {

/// Sends packets evenly at one rate, whatever is lost: CUDPBlast of UDT's own examples.
class ControlBlast : public ReceiverV2 {
  public:
    explicit ControlBlast(double rate_bps) : rate_bps_(rate_bps) {}

    void init() override {
        ReceiverV2::init();
        m_dPktSndPeriod = m_iMSS * 8 * 1e6 / rate_bps_;
        m_dCWndSize = m_dMaxCWndSize;
    }

  private:
    double rate_bps_;
};

/// CCCFactory of libudt, for classes whose constructor takes something.
class Factory : public CCCVirtualFactory {
  public:
    explicit Factory(std::function<CCC*()> make) : make_(std::move(make)) {}

    CCC* create() override { return make_(); }
    CCCVirtualFactory* clone() override { return new Factory(make_); }

  private:
    std::function<CCC*()> make_;
};

template <class Function> Function* symbol_of(void* library, const char* name) {
    return reinterpret_cast<Function*>(dlsym(library, name));
}

// The library stays loaded to the program's end: libudt's threads run its code.
std::unique_ptr<CCCVirtualFactory> own_factory(const Options& options) {
    const std::string& file = options.congestion_file;
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
        throw Refusal(std::string("--congestion-file cannot be loaded: ") + dlerror());
    auto* factory = symbol_of<CCCVirtualFactory*()>(library, "udt_congestion");
    auto* set = symbol_of<const char*(const char*, const char*)>(library, "udt_parameter");
    if (!factory)
        throw Refusal("--congestion-file " + file + " has no function udt_congestion()");
    for (const auto& [name, value] : options.congestion_parameters) {
        const char* allowed = set ? set(name.c_str(), value.c_str()) : "it takes no parameters";
        if (allowed)
            throw Refusal(name + " is '" + value + "': " + allowed);
    }
    return std::unique_ptr<CCCVirtualFactory>(factory());
}

} // namespace

std::unique_ptr<CCCVirtualFactory> control_factory(const Options& options) {
    const auto window = [](WindowLaw law) {
        return std::make_unique<Factory>([law] { return new ControlWindow(law); });
    };
    switch (options.congestion) {
    case Congestion::udt4:
        return nullptr;
    case Congestion::udtv2:
        return std::make_unique<CCCFactory<ControlV2>>();
    case Congestion::reno:
        return window(WindowLaw::reno);
    case Congestion::hstcp:
        return window(WindowLaw::hstcp);
    case Congestion::scalable:
        return window(WindowLaw::scalable);
    case Congestion::blast:
        return std::make_unique<Factory>([rate_bps = static_cast<double>(options.max_rate_bps)] {
            return new ControlBlast(rate_bps);
        });
    case Congestion::own:
        return own_factory(options);
    }
    return nullptr;
}

} // namespace udtperf
