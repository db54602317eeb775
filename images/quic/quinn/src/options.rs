// SPDX-License-Identifier: BSD-3-Clause
//! The command line: that of iperf3 as far as farpath uses it, and this program's parameters.

use std::net::IpAddr;
use std::str::FromStr;

pub struct Options {
    /// The server's address, for a client; None at a server.
    pub server: Option<IpAddr>,
    pub port: u16,
    pub time_s: f64,
    pub interval_s: f64,
    pub cc: Congestion,
    /// Of flow control, for the connection and for the stream.
    pub window_bytes: u32,
    /// Size of the IP packets that are filled.
    pub mtu_bytes: u16,
    /// Most that is written of the qlog.
    pub qlog_bytes: usize,
    pub qlog_file: Option<String>,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Congestion {
    NewReno,
    Cubic,
    Bbr,
}

impl Congestion {
    pub fn name(self) -> &'static str {
        match self {
            Congestion::NewReno => "newreno",
            Congestion::Cubic => "cubic",
            Congestion::Bbr => "bbr",
        }
    }
}

fn number<T: FromStr + PartialOrd + ToString>(
    name: &str,
    text: &str,
    low: T,
    high: T,
) -> Result<T, String> {
    match text.parse::<T>() {
        Ok(value) if value >= low && value <= high => Ok(value),
        _ => Err(format!(
            "{name} is '{text}': it must be a number from {} to {}",
            low.to_string(),
            high.to_string()
        )),
    }
}

fn congestion(text: &str) -> Result<Congestion, String> {
    match text {
        "newreno" => Ok(Congestion::NewReno),
        "cubic" => Ok(Congestion::Cubic),
        "bbr" => Ok(Congestion::Bbr),
        _ => Err(format!(
            "--cc is '{text}': it must be newreno, cubic or bbr"
        )),
    }
}

fn address(text: &str) -> Result<IpAddr, String> {
    text.parse()
        .map_err(|_| format!("--client is '{text}': it must be an IP address"))
}

/// Parses the words after the program's name; Err has a line for whoever gave them.
pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        server: None,
        port: 5201,
        time_s: 10.0,
        interval_s: 1.0,
        cc: Congestion::Cubic,
        window_bytes: 64 << 20,
        mtu_bytes: 1500,
        qlog_bytes: 16 << 20,
        qlog_file: None,
    };
    let mut is_server = false;
    while let Some(name) = words.next() {
        match name.as_str() {
            "--server" => {
                is_server = true;
                continue;
            }
            "--one-off" | "--json" => continue, // There is nothing else
            _ => {}
        }
        let value = words.next().ok_or(format!("{name}: it has no value"))?;
        match name.as_str() {
            "--client" => options.server = Some(address(&value)?),
            "--port" => options.port = number(&name, &value, 1, 65535)?,
            "--time" => options.time_s = number(&name, &value, 0.1, 200000.0)?,
            "--interval" => options.interval_s = number(&name, &value, 0.001, 200000.0)?,
            "--cc" => options.cc = congestion(&value)?,
            "--window" => options.window_bytes = number(&name, &value, 65536, 1 << 30)?,
            "--mtu" => options.mtu_bytes = number(&name, &value, 1280, 9000)?,
            "--qlog" => options.qlog_bytes = number::<usize>(&name, &value, 0, 1024)? << 20,
            "--qlog-file" => options.qlog_file = Some(value),
            _ => {
                return Err(format!(
                    "{name}: there is no such option; there are --cc, --window, --mtu and --qlog"
                ))
            }
        }
    }
    if is_server == options.server.is_some() {
        return Err("give either --server or --client and an address".into());
    }
    Ok(options)
}
