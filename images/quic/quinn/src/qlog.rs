// SPDX-License-Identifier: BSD-3-Clause
//! The qlog (draft-ietf-quic-qlog-main-schema): text in JSON-SEQ (RFC 7464), bounded in size.

use std::fs::File;
use std::io::{self, BufWriter, Write};

/// Takes the library's text and writes whole events of it. Behind half of the size only events of
/// recovery are kept.
pub struct BoundedQlog {
    file: BufWriter<File>,
    event: Vec<u8>,
    most_bytes: usize,
    written_bytes: usize,
    left_out: u64,
}

impl BoundedQlog {
    pub fn create(file: &str, most_bytes: usize) -> io::Result<Self> {
        let file = BufWriter::new(File::create(file)?);
        Ok(BoundedQlog {
            file,
            event: Vec::new(),
            most_bytes,
            written_bytes: 0,
            left_out: 0,
        })
    }

    fn end_event(&mut self) -> io::Result<()> {
        let is_recovery = has(&self.event, b"\"name\":\"recovery:");
        let room_bytes = if is_recovery {
            self.most_bytes
        } else {
            self.most_bytes / 2
        };
        if self.written_bytes + self.event.len() > room_bytes {
            self.left_out += 1;
        } else {
            self.written_bytes += self.event.len();
            self.file.write_all(&self.event)?;
        }
        self.event.clear();
        Ok(())
    }
}

fn has(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

impl Write for BoundedQlog {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        for part in text.split_inclusive(|&byte| byte == b'\n') {
            self.event.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.end_event()?;
            }
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for BoundedQlog {
    fn drop(&mut self) {
        if self.left_out > 0 {
            eprintln!("qlog: {} events were left out", self.left_out);
        }
    }
}
