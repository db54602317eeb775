// SPDX-License-Identifier: BSD-3-Clause
//! The report: JSON of iperf3's shape, with an interval for each second or what was asked for.

use std::fmt::Write;
use std::time::{Duration, Instant};

use crate::options::Options;

#[derive(Default)]
pub struct Interval {
    pub bytes: u64,
    pub lost_packets: u64,
    pub cwnd_bytes: u64,
    pub rtt_us: u128,
    /// Set by `Report::add`.
    pub end_s: f64,
}

pub struct Report<'a> {
    options: &'a Options,
    begin: Option<Instant>,
    intervals: Vec<Interval>,
}

impl<'a> Report<'a> {
    pub fn new(options: &'a Options) -> Self {
        Report {
            options,
            begin: None,
            intervals: Vec::new(),
        }
    }

    /// When the first interval begins; the first call counts.
    pub fn begin_at(&mut self, begin: Instant) {
        self.begin.get_or_insert(begin);
    }

    /// When the interval ends that comes next; None before the first begins.
    pub fn boundary(&self) -> Option<Instant> {
        let end_s = (self.intervals.len() + 1) as f64 * self.options.interval_s;
        self.begin
            .map(|begin| begin + Duration::from_secs_f64(end_s))
    }

    /// Ends an interval at its boundary, or at `end` if that is earlier.
    pub fn add(&mut self, mut interval: Interval, end: Instant) {
        if let (Some(begin), Some(boundary)) = (self.begin, self.boundary()) {
            interval.end_s = (end.min(boundary) - begin).as_secs_f64();
            self.intervals.push(interval);
        }
    }

    /// The JSON; `congestion` is what the connection says that it runs.
    pub fn json(&self, congestion: &str, monotonic_ns: impl Fn(Instant) -> u64) -> String {
        let options = self.options;
        let mut text = format!(
            "{{\"start\":{{\"version\":\"quinn-proto {}\",\"congestion\":\"{congestion}\",\
             \"mtu\":{},\"window\":{}",
            env!("QUINN_PROTO_VERSION"),
            options.mtu_bytes,
            options.window_bytes
        );
        if let Some(begin) = self.begin {
            let _ = write!(text, ",\"monotonic_ns\":{}", monotonic_ns(begin));
        }
        text.push_str("},\n\"intervals\":[");
        let mut start_s = 0.0;
        for (number, interval) in self.intervals.iter().enumerate() {
            text.push_str(if number == 0 { "\n" } else { ",\n" });
            self.push_interval(&mut text, interval, start_s);
            start_s = interval.end_s;
        }
        let share = if start_s > 0.0 {
            100.0 * cpu_s() / start_s
        } else {
            0.0
        };
        let _ = writeln!(
            text,
            "],\n\"end\":{{\"cpu_utilization_percent\":{{\"host_total\":{share:.6}}}}}}}"
        );
        text
    }

    fn push_interval(&self, text: &mut String, interval: &Interval, start_s: f64) {
        let _ = write!(
            text,
            "{{\"streams\":[{{\"start\":{start_s:.9},\"end\":{:.9},\"bytes\":{}",
            interval.end_s, interval.bytes
        );
        if self.options.server.is_some() {
            let _ = write!(
                text,
                ",\"retransmits\":{},\"snd_cwnd\":{},\"rtt\":{}",
                interval.lost_packets, interval.cwnd_bytes, interval.rtt_us
            );
        }
        text.push_str("}]}");
    }
}

fn cpu_s() -> f64 {
    // SAFETY: getrusage fills the structure that it is given
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
