// SPDX-License-Identifier: BSD-3-Clause
//! Tells the program which version of quinn-proto the lock names.

fn main() {
    println!("cargo::rerun-if-changed=Cargo.lock");
    let lock = std::fs::read_to_string("Cargo.lock").unwrap_or_default();
    let mut lines = lock
        .lines()
        .skip_while(|line| *line != "name = \"quinn-proto\"");
    let version = lines
        .nth(1)
        .and_then(|line| line.split('"').nth(1))
        .unwrap_or("unknown");
    println!("cargo::rustc-env=QUINN_PROTO_VERSION={version}");
}
