// SPDX-License-Identifier: BSD-3-Clause
//! An endpoint of the QUIC interop runner over quinn, a library of Rust.
//!
//!     cargo build --release
//!     farpath interop 'quinn=machine:target/release/quinn_endpoint'
//!
//! The runner gives ROLE, TESTCASE, REQUESTS, SSLKEYLOGFILE and QLOGDIR; files are in /www,
//! /downloads and /certs. Files come by HTTP/0.9 (`hq-interop`), and in the case http3 by HTTP/3.

mod client;
mod server;
mod settings;

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const SUPPORTED: [&str; 8] = [
    "handshake",
    "transfer",
    "chacha20",
    "retry",
    "resumption",
    "zerortt",
    "http3",
    "multiconnect",
];
const NOT_SUPPORTED: u8 = 127;
const PORT: u16 = 443;

/// Returns the file of a request in a directory.
fn file_in(directory: &str, path: &str) -> Result<PathBuf> {
    let name = Path::new(path).file_name().ok_or("no file is named")?;
    Ok(Path::new(directory).join(name))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode> {
    let case = env::var("TESTCASE")?;
    if !SUPPORTED.contains(&case.as_str()) {
        return Ok(ExitCode::from(NOT_SUPPORTED));
    }
    if env::var("ROLE")? == "server" {
        server::answer_all(&case).await?;
    } else {
        let addresses = env::var("REQUESTS")?;
        let addresses: std::result::Result<Vec<_>, _> =
            addresses.split_whitespace().map(str::parse).collect();
        client::get_all(&case, &addresses?).await?;
    }
    Ok(ExitCode::SUCCESS)
}
