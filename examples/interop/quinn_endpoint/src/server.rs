// SPDX-License-Identifier: BSD-3-Clause
//! The server: answers requests until a signal ends it.

use std::fs;
use std::net::Ipv6Addr;
use std::sync::Arc;

use bytes::Bytes;
use h3::server::RequestResolver;
use http::Response;
use quinn::{Connecting, Connection, Endpoint, RecvStream, SendStream};

use crate::{PORT, Result, file_in, settings};

const WWW: &str = "/www";
const MOST_REQUEST_BYTES: usize = 4096;

pub async fn answer_all(case: &str) -> Result<()> {
    let config = settings::server(case)?;
    let endpoint = Endpoint::server(config.clone(), (Ipv6Addr::UNSPECIFIED, PORT).into())?;
    let mut connections = 0;
    while let Some(incoming) = endpoint.accept().await {
        if case == "retry" && !incoming.remote_address_validated() {
            incoming.retry()?;
            continue;
        }
        let mut own = config.clone();
        own.transport_config(settings::transport(case, "server", connections)?);
        // One whose first packet is damaged is none, and the next one takes its log
        if let Ok(connecting) = incoming.accept_with(Arc::new(own)) {
            connections += 1;
            tokio::spawn(answer_connection(connecting, case == "http3"));
        }
    }
    Ok(())
}

async fn answer_connection(connecting: Connecting, is_http3: bool) -> Result<()> {
    // Requests are answered before the handshake has ended
    let (connection, _) = connecting.into_0rtt().map_err(|_| "a client")?;
    if is_http3 {
        return answer_http3(connection).await;
    }
    loop {
        let (answer, request) = connection.accept_bi().await?;
        tokio::spawn(answer_http09(answer, request));
    }
}

async fn answer_http09(mut answer: SendStream, mut request: RecvStream) -> Result<()> {
    let request = String::from_utf8(request.read_to_end(MOST_REQUEST_BYTES).await?)?;
    let path = request.split_whitespace().nth(1).ok_or("no path")?;
    answer.write_all(&fs::read(file_in(WWW, path)?)?).await?;
    Ok(answer.finish()?)
}

async fn answer_http3(connection: Connection) -> Result<()> {
    let mut requests = h3::server::Connection::new(h3_quinn::Connection::new(connection)).await?;
    while let Some(request) = requests.accept().await? {
        tokio::spawn(answer_request(request));
    }
    Ok(())
}

async fn answer_request(request: RequestResolver<h3_quinn::Connection, Bytes>) -> Result<()> {
    let (request, mut stream) = request.resolve_request().await?;
    let content = fs::read(file_in(WWW, request.uri().path())?)?;
    stream.send_response(Response::new(())).await?;
    stream.send_data(content.into()).await?;
    Ok(stream.finish().await?)
}
