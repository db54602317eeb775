// SPDX-License-Identifier: BSD-3-Clause
//! Sends or receives one stream of QUIC for a time, and reports as iperf3 does (docs/quic.md).

mod connection;
mod options;
mod qlog;
mod report;
mod socket;
mod tls;

use std::error::Error;
use std::process::exit;
use std::time::{Duration, Instant};

use connection::Flow;
use options::Options;
use report::{Interval, Report};

/// How long an end waits for the other's last packets, in round trips and at least.
const LINGER_ROUND_TRIPS: u32 = 4;
const LEAST_LINGER: Duration = Duration::from_secs(1);
const BAD_INPUT: i32 = 2;

fn linger_until(flow: &Flow) -> Result<Instant, Box<dyn Error>> {
    let linger = LINGER_ROUND_TRIPS * flow.connection()?.rtt();
    Ok(Instant::now() + linger.max(LEAST_LINGER))
}

fn send_for_a_time(options: &Options, report: &mut Report) -> Result<Flow, Box<dyn Error>> {
    let mut flow = Flow::client(options)?;
    while !flow.established && !flow.closed {
        flow.turn(None)?;
    }
    let begin = Instant::now();
    report.begin_at(begin);
    let end = begin + Duration::from_secs_f64(options.time_s);
    let (mut bytes, mut lost) = (0, 0);
    while !flow.closed && Instant::now() < end {
        flow.turn(report.boundary().min(Some(end)))?;
        let now = Instant::now();
        while report
            .boundary()
            .is_some_and(|boundary| boundary <= now.min(end))
        {
            let path = flow.connection()?.stats().path;
            let interval = Interval {
                bytes: flow.stream_bytes - bytes,
                lost_packets: path.lost_packets - lost,
                cwnd_bytes: path.cwnd,
                rtt_us: path.rtt.as_micros(),
                ..Default::default()
            };
            (bytes, lost) = (flow.stream_bytes, path.lost_packets);
            report.add(interval, now);
        }
    }
    if flow.closed {
        return Err("the server closed the connection early".into());
    }
    flow.end_stream();
    let last = linger_until(&flow)?;
    while !flow.stream_is_over() && !flow.closed && Instant::now() < last {
        flow.turn(Some(last))?;
    }
    flow.close()?;
    Ok(flow)
}

/// What has just arrived belongs to the interval that follows a boundary.
fn receive_until_the_end(options: &Options, report: &mut Report) -> Result<Flow, Box<dyn Error>> {
    let mut flow = Flow::server(options)?;
    let mut added = 0;
    while !flow.ended && !flow.closed {
        let before = flow.stream_bytes;
        flow.turn(None)?;
        let Some(first) = flow.first_data else {
            continue;
        };
        report.begin_at(first);
        let now = Instant::now();
        while report.boundary().is_some_and(|boundary| boundary <= now) {
            report.add(
                Interval {
                    bytes: before - added,
                    ..Default::default()
                },
                now,
            );
            added = before;
        }
    }
    let rest = Interval {
        bytes: flow.stream_bytes - added,
        ..Default::default()
    };
    report.add(rest, Instant::now());
    let last = linger_until(&flow)?;
    while !flow.closed && Instant::now() < last {
        flow.turn(Some(last))?;
    }
    flow.close()?;
    Ok(flow)
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let (base, base_ns) = (Instant::now(), socket::monotonic_ns());
    let mut report = Report::new(options);
    let flow = match options.server {
        Some(_) => send_for_a_time(options, &mut report)?,
        None => receive_until_the_end(options, &mut report)?,
    };
    let congestion = flow.congestion().map_or("unknown", |cc| cc.name());
    drop(flow); // which ends the qlog
    print!(
        "{}",
        report.json(congestion, |at| base_ns + (at - base).as_nanos() as u64)
    );
    Ok(())
}

fn main() {
    let options = options::parse(std::env::args().skip(1)).unwrap_or_else(|problem| {
        eprintln!("quic_quinn: {problem}");
        exit(BAD_INPUT)
    });
    if let Err(problem) = run(&options) {
        eprintln!("quic_quinn: {problem}");
        exit(1)
    }
}
