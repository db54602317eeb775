// SPDX-License-Identifier: BSD-3-Clause
//! The UDP socket, the clock and waiting for both.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::Instant;

const BUFFER_BYTES: libc::c_int = 4 << 20;

/// CLOCK_MONOTONIC, from which Instant counts too.
pub fn monotonic_ns() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: clock_gettime fills the structure that it is given
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn set(socket: &UdpSocket, level: libc::c_int, name: libc::c_int, value: libc::c_int) {
    // SAFETY: the value outlives the call, and the length is its own
    unsafe {
        let pointer = (&raw const value).cast();
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            pointer,
            size_of_val(&value) as u32,
        );
    }
}

/// Packets are never split by IP (RFC 9000, section 14); the kernel cuts sizes to what it allows.
fn prepare(socket: UdpSocket) -> io::Result<UdpSocket> {
    socket.set_nonblocking(true)?;
    set(&socket, libc::SOL_SOCKET, libc::SO_SNDBUF, BUFFER_BYTES);
    set(&socket, libc::SOL_SOCKET, libc::SO_RCVBUF, BUFFER_BYTES);
    set(
        &socket,
        libc::IPPROTO_IP,
        libc::IP_MTU_DISCOVER,
        libc::IP_PMTUDISC_PROBE,
    );
    if socket.local_addr()?.is_ipv6() {
        set(
            &socket,
            libc::IPPROTO_IPV6,
            libc::IPV6_MTU_DISCOVER,
            libc::IP_PMTUDISC_PROBE,
        );
    }
    // SAFETY: it changes this thread's timers only, which then end when they are due
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
    Ok(socket)
}

pub fn waiting_on(port: u16) -> io::Result<UdpSocket> {
    let both = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, port));
    prepare(both.or_else(|_| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port)))?)
}

pub fn connected_to(address: IpAddr, port: u16) -> io::Result<UdpSocket> {
    let any: IpAddr = match address {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect((address, port))?;
    prepare(socket)
}

/// Waits for a packet, or for room where that is wanted, or until a time.
pub fn wait(socket: &UdpSocket, wants_room: bool, until: Option<Instant>) {
    let events = libc::POLLIN | if wants_room { libc::POLLOUT } else { 0 };
    let mut waited = libc::pollfd {
        fd: socket.as_raw_fd(),
        events,
        revents: 0,
    };
    let left = until.map(|until| until.saturating_duration_since(Instant::now()));
    if left.is_some_and(|left| left.is_zero()) {
        return;
    }
    let timeout = left.map(|left| libc::timespec {
        tv_sec: left.as_secs() as libc::time_t,
        tv_nsec: left.subsec_nanos().into(),
    });
    let timeout = timeout
        .as_ref()
        .map_or(std::ptr::null(), |timeout| &raw const *timeout);
    // SAFETY: both pointers are to values that outlive the call, or null
    unsafe { libc::ppoll(&mut waited, 1, timeout, std::ptr::null()) };
}

/// The packet's size and sender; None if there is none.
pub fn receive(socket: &UdpSocket, room: &mut [u8]) -> io::Result<Option<(usize, SocketAddr)>> {
    loop {
        match socket.recv_from(room) {
            Ok(received) => return Ok(Some(received)),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock => return Ok(None),
                ErrorKind::Interrupted | ErrorKind::ConnectionRefused => {}
                _ => return Err(error),
            },
        }
    }
}

/// Whether the packet went out, or was lost at once; false if the socket has no room.
pub fn send(socket: &UdpSocket, packet: &[u8]) -> io::Result<bool> {
    loop {
        match socket.send(packet) {
            Ok(_) => return Ok(true),
            Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => return Ok(false),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock => return Ok(false),
                ErrorKind::ConnectionRefused => return Ok(true),
                ErrorKind::Interrupted => {}
                _ => return Err(error),
            },
        }
    }
}
