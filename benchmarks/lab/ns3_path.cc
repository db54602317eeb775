// SPDX-License-Identifier: BSD-3-Clause
//
// The cost of a packet in ns-3: one bulk TCP flow over the lab's lossless path.
//
//   sender --[10 Gbit/s, half the RTT]-- router --[rate, drop-tail buffer]-- receiver
//
// As in the lab, the delay is before the bottleneck, the windows are fixed, and the
// device has the only queue. Counting begins at --warmupS of simulated time, when
// the window is open, and ends after --cpuS of CPU time or --simS of simulated time.
// The program prints one JSON object.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdint>
#include <iostream>
#include <string>
#include <sys/resource.h>

using namespace ns3;

namespace
{

// Payload of a 1500-byte packet: IP 20, TCP 20 and its timestamp option 12 bytes.
constexpr uint32_t SEGMENT_BYTES = 1448;
constexpr uint16_t PORT = 5201;
// The interval between readings of the CPU time, in simulated time.
constexpr double STEP_S = 0.01;

struct Options
{
    std::string stack = "ns3::TcpHtcp";
    uint64_t rateBps = 450000000;
    double rttMs = 164;
    uint32_t windowBytes = 16777216;
    uint32_t bufferBytes = 10500000;
    double warmupS = 4;
    double simS = 2;
    double cpuS = 20;
};

struct Reading
{
    double simS = 0;
    double cpuS = 0;
    uint64_t bytes = 0;
};

double
CpuSeconds()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

Reading
ReadNow(const Ptr<PacketSink>& sink)
{
    return {Simulator::Now().GetSeconds(), CpuSeconds(), sink->GetTotalRx()};
}

void
StopWhenSpent(const Ptr<PacketSink>& sink, const Reading* begin, double cpuS)
{
    if (CpuSeconds() - begin->cpuS >= cpuS)
    {
        Simulator::Stop();
        return;
    }
    Simulator::Schedule(Seconds(STEP_S), &StopWhenSpent, sink, begin, cpuS);
}

Options
ParseCommandLine(int argc, char* argv[])
{
    Options options;
    CommandLine line(__FILE__);
    line.AddValue("stack", "TypeId of the congestion control", options.stack);
    line.AddValue("rateBps", "bottleneck rate in bit/s", options.rateBps);
    line.AddValue("rttMs", "round-trip time of the idle path in ms", options.rttMs);
    line.AddValue("windowBytes", "send and receive buffer in bytes", options.windowBytes);
    line.AddValue("bufferBytes", "the bottleneck's buffer in bytes", options.bufferBytes);
    line.AddValue("warmupS", "simulated s before counting", options.warmupS);
    line.AddValue("simS", "simulated s to count at most", options.simS);
    line.AddValue("cpuS", "CPU s to count at most", options.cpuS);
    line.Parse(argc, argv);
    return options;
}

void
SetDefaults(const Options& options)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(options.stack));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT_BYTES));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(options.windowBytes));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(options.windowBytes));
}

Ipv4Address
BuildPath(const NodeContainer& nodes, const Options& options)
{
    PointToPointHelper farLink;
    farLink.SetDeviceAttribute("DataRate", StringValue("10Gbps"));
    farLink.SetChannelAttribute("Delay", TimeValue(MicroSeconds(500 * options.rttMs)));
    farLink.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("2000000p"));
    PointToPointHelper bottleneck;
    bottleneck.SetDeviceAttribute("DataRate", DataRateValue(DataRate(options.rateBps)));
    bottleneck.SetQueue("ns3::DropTailQueue",
                        "MaxSize",
                        StringValue(std::to_string(options.bufferBytes) + "B"));
    const NetDeviceContainer farDevices = farLink.Install(nodes.Get(0), nodes.Get(1));
    const NetDeviceContainer devices = bottleneck.Install(nodes.Get(1), nodes.Get(2));
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper("10.0.1.0", "255.255.255.0").Assign(farDevices);
    const Ipv4InterfaceContainer addresses =
        Ipv4AddressHelper("10.0.2.0", "255.255.255.0").Assign(devices);
    // ns-3 puts fq_codel on every device that gets an address.
    TrafficControlHelper control;
    control.Uninstall(farDevices);
    control.Uninstall(devices);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    return addresses.GetAddress(1);
}

} // namespace

int
main(int argc, char* argv[])
{
    const Options options = ParseCommandLine(argc, argv);
    SetDefaults(options);
    NodeContainer nodes;
    nodes.Create(3);
    const Ipv4Address receiver = BuildPath(nodes, options);

    PacketSinkHelper taker("ns3::TcpSocketFactory", InetSocketAddress(receiver, PORT));
    const Ptr<PacketSink> sink = DynamicCast<PacketSink>(taker.Install(nodes.Get(2)).Get(0));
    BulkSendHelper giver("ns3::TcpSocketFactory", InetSocketAddress(receiver, PORT));
    giver.SetAttribute("MaxBytes", UintegerValue(0));
    giver.SetAttribute("SendSize", UintegerValue(131072));
    giver.Install(nodes.Get(0));

    Reading begin;
    Simulator::Schedule(Seconds(options.warmupS), [&] {
        begin = ReadNow(sink);
        StopWhenSpent(sink, &begin, options.cpuS);
    });
    Simulator::Stop(Seconds(options.warmupS + options.simS));
    Simulator::Run();
    const Reading end = ReadNow(sink);
    std::cout << "{\"sim_s\": " << end.simS - begin.simS << ", \"cpu_s\": " << end.cpuS - begin.cpuS
              << ", \"bytes\": " << end.bytes - begin.bytes << ", \"warmup_cpu_s\": " << begin.cpuS
              << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
