// SPDX-License-Identifier: BSD-3-Clause
//! TLS and QUIC as a case demands them, with the logs that the runner asks for.

use std::env;
use std::fs::File;
use std::io::LineWriter;
use std::path::Path;
use std::sync::Arc;

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, QlogConfig, ServerConfig, TransportConfig, VarInt};
use rustls::client::Resumption;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::quic::Suite;
use rustls::version::TLS13;
use rustls::{CipherSuite, KeyLogFile, RootCertStore, Tls13CipherSuite};

use crate::Result;

pub fn client(case: &str) -> Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file("/certs/ca.pem")?)?;
    let mut tls = rustls::ClientConfig::builder_with_provider(provider(case))
        .with_protocol_versions(&[&TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    tls.alpn_protocols = alpn(case);
    tls.key_log = Arc::new(KeyLogFile::new());
    tls.enable_early_data = case == "zerortt";
    if case == "multiconnect" {
        tls.resumption = Resumption::disabled();
    }
    let tls = QuicClientConfig::with_initial(Arc::new(tls), initial_suite()?)?;
    Ok(ClientConfig::new(Arc::new(tls)))
}

pub fn server(case: &str) -> Result<ServerConfig> {
    let chain = CertificateDer::pem_file_iter("/certs/cert.pem")?;
    let mut tls = rustls::ServerConfig::builder_with_provider(provider(case))
        .with_protocol_versions(&[&TLS13])?
        .with_no_client_auth()
        .with_single_cert(
            chain.collect::<std::result::Result<_, _>>()?,
            PrivateKeyDer::from_pem_file("/certs/priv.key")?,
        )?;
    tls.alpn_protocols = alpn(case);
    tls.key_log = Arc::new(KeyLogFile::new());
    tls.max_early_data_size = u32::MAX;
    let tls = QuicServerConfig::with_initial(Arc::new(tls), initial_suite()?)?;
    Ok(ServerConfig::with_crypto(Arc::new(tls)))
}

/// Returns the library's settings but for two cases, with a log of the connection of that number.
pub fn transport(case: &str, role: &str, number: usize) -> Result<Arc<TransportConfig>> {
    let file = Path::new(&env::var("QLOGDIR")?).join(format!("{role}-{number}.sqlog"));
    let mut qlog = QlogConfig::default();
    // Whole events, as the runner ends servers by a signal
    qlog.writer(Box::new(LineWriter::new(File::create(file)?)));
    let mut transport = TransportConfig::default();
    transport.qlog_stream(qlog.into_stream());
    match case {
        // Probes of the MTU would count as bytes after the handshake
        "zerortt" => transport.mtu_discovery_config(None),
        // More probes are lost in a row, each after twice the time, than fit into the usual 30 s
        "multiconnect" => transport.max_idle_timeout(Some(VarInt::from_u32(60_000).into())),
        _ => &mut transport,
    };
    Ok(Arc::new(transport))
}

fn alpn(case: &str) -> Vec<Vec<u8>> {
    let name: &[u8] = if case == "http3" {
        b"h3"
    } else {
        b"hq-interop"
    };
    vec![name.into()]
}

fn provider(case: &str) -> Arc<CryptoProvider> {
    let mut provider = ring::default_provider();
    if case == "chacha20" {
        let only = CipherSuite::TLS13_CHACHA20_POLY1305_SHA256;
        provider.cipher_suites.retain(|one| one.suite() == only);
    }
    Arc::new(provider)
}

/// Returns the cipher of Initial packets, which no case chooses.
fn initial_suite() -> Result<Suite> {
    let suite = ring::cipher_suite::TLS13_AES_128_GCM_SHA256.tls13();
    Ok(suite
        .and_then(Tls13CipherSuite::quic_suite)
        .ok_or("no cipher")?)
}
