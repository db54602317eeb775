// SPDX-License-Identifier: BSD-3-Clause
//! One QUIC connection with one stream towards the server, on quinn-proto.

use std::error::Error;
use std::net::UdpSocket;
use std::sync::Arc;
use std::time::Instant;

use quinn_proto::congestion::{
    Bbr, BbrConfig, ControllerFactory, Cubic, CubicConfig, NewReno, NewRenoConfig,
};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig,
    Event, IdleTimeout, QlogConfig, ReadError, ServerConfig, StreamEvent, StreamId,
    TransportConfig, VarInt,
};

use crate::options::{Congestion, Options};
use crate::qlog::BoundedQlog;
use crate::{socket, tls};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const IDLE_MS: u32 = 60_000;
const IPV4_UDP_BYTES: u16 = 28;
const IPV6_UDP_BYTES: u16 = 48;
const MOST_PACKET_BYTES: usize = 65536;
/// What the stream carries.
static PAYLOAD: [u8; 1 << 16] = [0; 1 << 16];
/// What is handed to the library beyond two windows, so that it never lacks data.
const AHEAD_BYTES: u64 = 1 << 18;

pub struct Flow {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    socket: UdpSocket,
    stream: Option<StreamId>,
    packet: Vec<u8>,
    is_connected: bool,
    pub established: bool,
    /// Whether the stream has data to send.
    sending: bool,
    /// The stream: the peer knows, or has said so.
    pub ended: bool,
    pub closed: bool,
    /// Handed to the library, or received in order.
    pub stream_bytes: u64,
    pub first_data: Option<Instant>,
}

fn factory(cc: Congestion) -> Arc<dyn ControllerFactory + Send + Sync> {
    match cc {
        Congestion::NewReno => Arc::new(NewRenoConfig::default()),
        Congestion::Cubic => Arc::new(CubicConfig::default()),
        Congestion::Bbr => Arc::new(BbrConfig::default()),
    }
}

/// Packets fill the path's MTU from the first on, and nothing is probed.
fn transport(options: &Options) -> Result<Arc<TransportConfig>> {
    let mut transport = TransportConfig::default();
    let is_ipv4 = options.server.is_some_and(|server| server.is_ipv4());
    let headers_bytes = if is_ipv4 {
        IPV4_UDP_BYTES
    } else {
        IPV6_UDP_BYTES
    };
    let window = VarInt::from_u32(options.window_bytes);
    transport
        .initial_mtu(options.mtu_bytes - headers_bytes)
        .mtu_discovery_config(None)
        .max_idle_timeout(Some(IdleTimeout::from(VarInt::from_u32(IDLE_MS))))
        .receive_window(window)
        .stream_receive_window(window)
        .enable_segmentation_offload(false)
        .congestion_controller_factory(factory(options.cc));
    if let (Some(file), true) = (&options.qlog_file, options.qlog_bytes > 0) {
        let mut qlog = QlogConfig::default();
        qlog.writer(Box::new(BoundedQlog::create(file, options.qlog_bytes)?));
        transport.qlog_stream(qlog.into_stream());
    }
    Ok(Arc::new(transport))
}

fn endpoint_config() -> Result<Arc<EndpointConfig>> {
    let mut config = EndpointConfig::default();
    config.max_udp_payload_size(65527)?.grease_quic_bit(false);
    Ok(Arc::new(config))
}

impl Flow {
    fn new(endpoint: Endpoint, socket: UdpSocket, is_connected: bool) -> Self {
        Flow {
            endpoint,
            connection: None,
            socket,
            stream: None,
            packet: Vec::with_capacity(MOST_PACKET_BYTES),
            is_connected,
            established: false,
            sending: false,
            ended: false,
            closed: false,
            stream_bytes: 0,
            first_data: None,
        }
    }

    pub fn server(options: &Options) -> Result<Self> {
        let mut config = ServerConfig::with_crypto(Arc::new(tls::server()?));
        config.transport_config(transport(options)?);
        let endpoint = Endpoint::new(endpoint_config()?, Some(Arc::new(config)), false, None);
        Ok(Flow::new(
            endpoint,
            socket::waiting_on(options.port)?,
            false,
        ))
    }

    pub fn client(options: &Options) -> Result<Self> {
        let address = options.server.ok_or("no address")?;
        let mut config = ClientConfig::new(Arc::new(tls::client()?));
        config.transport_config(transport(options)?);
        let mut endpoint = Endpoint::new(endpoint_config()?, None, false, None);
        let remote = (address, options.port).into();
        let made = endpoint.connect(Instant::now(), config, remote, tls::SERVER_NAME)?;
        let socket = socket::connected_to(address, options.port)?;
        let mut flow = Flow::new(endpoint, socket, true);
        flow.connection = Some(made);
        Ok(flow)
    }

    /// Sends what may go, waits for a packet, for the library's timer or until a time.
    pub fn turn(&mut self, until: Option<Instant>) -> Result<()> {
        self.take_events();
        self.send()?;
        let expiry = self
            .connection
            .as_mut()
            .and_then(|(_, connection)| connection.poll_timeout());
        let until = [until, expiry].into_iter().flatten().min();
        socket::wait(&self.socket, !self.packet.is_empty(), until);
        self.receive()?;
        let now = Instant::now();
        if let Some((_, connection)) = &mut self.connection {
            if connection
                .poll_timeout()
                .is_some_and(|expiry| expiry <= now)
            {
                connection.handle_timeout(now);
            }
        }
        self.take_events();
        Ok(())
    }

    fn receive(&mut self) -> Result<()> {
        let mut room = [0; MOST_PACKET_BYTES];
        while let Some((size, from)) = socket::receive(&self.socket, &mut room)? {
            let (now, data, mut answer) = (Instant::now(), room[..size].into(), Vec::new());
            match self
                .endpoint
                .handle(now, from, None, None, data, &mut answer)
            {
                Some(DatagramEvent::ConnectionEvent(_, event)) => {
                    if let Some((_, connection)) = &mut self.connection {
                        connection.handle_event(event);
                    }
                }
                Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_none() => {
                    self.socket.connect(from)?;
                    self.is_connected = true;
                    let accepted = self.endpoint.accept(incoming, now, &mut answer, None);
                    self.connection = Some(accepted.map_err(|error| error.cause)?);
                }
                Some(DatagramEvent::NewConnection(incoming)) => self.endpoint.ignore(incoming),
                Some(DatagramEvent::Response(_)) | None => {}
            }
            self.take_events();
        }
        Ok(())
    }

    fn take_events(&mut self) {
        let Some((handle, connection)) = &mut self.connection else {
            return;
        };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected => self.established = true,
                Event::ConnectionLost { .. } => self.closed = true,
                Event::Stream(StreamEvent::Opened { dir: Dir::Uni }) => {
                    self.stream = connection.streams().accept(Dir::Uni);
                }
                _ => {}
            }
        }
        self.read();
    }

    /// Reads all data that have arrived in order.
    fn read(&mut self) {
        let (Some((_, connection)), Some(id)) = (&mut self.connection, self.stream) else {
            return;
        };
        if connection.side().is_client() || self.ended {
            return;
        }
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else {
            return;
        };
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => {
                    self.first_data.get_or_insert_with(Instant::now);
                    self.stream_bytes += chunk.bytes.len() as u64;
                }
                Err(ReadError::Blocked) => break,
                Ok(None) | Err(ReadError::Reset(_)) => {
                    self.ended = true;
                    break;
                }
            }
        }
        let _ = chunks.finalize();
    }

    /// Hands over data for two windows, as TCP's send buffer holds them.
    fn write(&mut self) -> Result<()> {
        let Some((_, connection)) = &mut self.connection else {
            return Ok(());
        };
        if self.established && self.stream.is_none() && connection.side().is_client() {
            self.stream = connection.streams().open(Dir::Uni);
            self.sending = self.stream.is_some();
        }
        let (Some(id), true) = (self.stream, self.sending) else {
            return Ok(());
        };
        let window = connection.congestion_state().window();
        connection.set_send_window(2 * window + AHEAD_BYTES);
        let mut stream = connection.send_stream(id);
        while let Ok(taken) = stream.write(&PAYLOAD) {
            self.stream_bytes += taken as u64;
        }
        Ok(())
    }

    fn send(&mut self) -> Result<()> {
        if !self.is_connected {
            return Ok(());
        }
        self.write()?;
        let Some((_, connection)) = &mut self.connection else {
            return Ok(());
        };
        let now = Instant::now();
        loop {
            if self.packet.is_empty()
                && connection.poll_transmit(now, 1, &mut self.packet).is_none()
            {
                return Ok(());
            }
            if !socket::send(&self.socket, &self.packet)? {
                return Ok(());
            }
            self.packet.clear();
        }
    }

    pub fn connection(&self) -> Result<&Connection> {
        Ok(&self.connection.as_ref().ok_or("there is no connection")?.1)
    }

    /// The name of the congestion control that the connection has.
    pub fn congestion(&self) -> Option<Congestion> {
        let any = self
            .connection()
            .ok()?
            .congestion_state()
            .clone_box()
            .into_any();
        [
            (any.is::<NewReno>(), Congestion::NewReno),
            (any.is::<Cubic>(), Congestion::Cubic),
            (any.is::<Bbr>(), Congestion::Bbr),
        ]
        .into_iter()
        .find_map(|(is_it, cc)| is_it.then_some(cc))
    }

    /// Ends the stream at once, without what was not sent (RESET_STREAM, RFC 9000, section 3.1).
    pub fn end_stream(&mut self) {
        self.sending = false;
        if let (Some((_, connection)), Some(id)) = (&mut self.connection, self.stream) {
            let _ = connection.send_stream(id).reset(VarInt::from_u32(0));
        }
    }

    /// Whether the peer has acknowledged the stream's end.
    pub fn stream_is_over(&mut self) -> bool {
        self.connection
            .as_mut()
            .is_none_or(|(_, one)| one.streams().send_streams() == 0)
    }

    /// Sends CONNECTION_CLOSE.
    pub fn close(&mut self) -> Result<()> {
        if let Some((_, connection)) = &mut self.connection {
            connection.close(Instant::now(), VarInt::from_u32(0), Default::default());
        }
        self.send()
    }
}
