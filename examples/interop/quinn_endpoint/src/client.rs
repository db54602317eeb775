// SPDX-License-Identifier: BSD-3-Clause
//! The client: gets files over one connection or several.

use std::fs;
use std::net::{Ipv6Addr, ToSocketAddrs};

use bytes::{Buf, Bytes};
use h3::client::SendRequest;
use h3_quinn::OpenStreams;
use http::{Request, Uri};
use quinn::{ClientConfig, Connection, Endpoint, VarInt};
use tokio::task::JoinSet;

use crate::{PORT, Result, file_in, settings};

const DOWNLOADS: &str = "/downloads";

/// Gets all files as the case demands.
pub async fn get_all(case: &str, addresses: &[Uri]) -> Result<()> {
    let endpoint = Endpoint::client((Ipv6Addr::UNSPECIFIED, 0).into())?;
    let mut config = settings::client(case)?;
    for (number, together) in by_connection(case, addresses).into_iter().enumerate() {
        config.transport_config(settings::transport(case, "client", number)?);
        let is_early = case == "zerortt" && number > 0;
        let connection = connect(&endpoint, config.clone(), &together[0], is_early).await?;
        if case == "http3" {
            get_by_http3(&connection, together).await?;
        } else {
            get_by_http09(&connection, together).await?;
        }
        connection.close(VarInt::from_u32(0), b"");
    }
    endpoint.wait_idle().await;
    Ok(())
}

/// Returns the addresses of each connection.
fn by_connection<'a>(case: &str, addresses: &'a [Uri]) -> Vec<&'a [Uri]> {
    match case {
        "multiconnect" => addresses.chunks(1).collect(),
        "resumption" | "zerortt" => vec![&addresses[..1], &addresses[1..]],
        _ => vec![addresses],
    }
}

async fn connect(
    endpoint: &Endpoint,
    config: ClientConfig,
    address: &Uri,
    is_early: bool,
) -> Result<Connection> {
    let host = address.host().ok_or("an address has no host")?;
    let port = address.port_u16().unwrap_or(PORT);
    let remote = (host, port).to_socket_addrs()?.next();
    let connecting = endpoint.connect_with(config, remote.ok_or("no such host")?, host)?;
    if !is_early {
        return Ok(connecting.await?);
    }
    let (connection, _) = connecting.into_0rtt().map_err(|_| "no ticket for 0-RTT")?;
    Ok(connection)
}

async fn get_by_http09(connection: &Connection, addresses: &[Uri]) -> Result<()> {
    let mut gets = JoinSet::new();
    for address in addresses {
        gets.spawn(get_file(connection.clone(), address.path().to_owned()));
    }
    all(gets).await
}

async fn get_file(connection: Connection, path: String) -> Result<()> {
    let (mut request, mut answer) = connection.open_bi().await?;
    request
        .write_all(format!("GET {path}\r\n").as_bytes())
        .await?;
    request.finish()?;
    let content = answer.read_to_end(usize::MAX).await?;
    Ok(fs::write(file_in(DOWNLOADS, &path)?, content)?)
}

async fn get_by_http3(connection: &Connection, addresses: &[Uri]) -> Result<()> {
    let (mut driver, requests) =
        h3::client::new(h3_quinn::Connection::new(connection.clone())).await?;
    let driving = tokio::spawn(async move { driver.wait_idle().await });
    let mut gets = JoinSet::new();
    for address in addresses {
        gets.spawn(get_file_by_http3(requests.clone(), address.clone()));
    }
    all(gets).await?;
    driving.abort();
    Ok(())
}

async fn get_file_by_http3(
    mut requests: SendRequest<OpenStreams, Bytes>,
    address: Uri,
) -> Result<()> {
    let file = file_in(DOWNLOADS, address.path())?;
    let mut stream = requests
        .send_request(Request::get(address).body(())?)
        .await?;
    stream.finish().await?;
    if !stream.recv_response().await?.status().is_success() {
        return Err("the server has not the file".into());
    }
    let mut content = Vec::new();
    while let Some(mut part) = stream.recv_data().await? {
        content.extend_from_slice(&part.copy_to_bytes(part.remaining()));
    }
    Ok(fs::write(file, content)?)
}

async fn all(mut gets: JoinSet<Result<()>>) -> Result<()> {
    while let Some(got) = gets.join_next().await {
        got??;
    }
    Ok(())
}
