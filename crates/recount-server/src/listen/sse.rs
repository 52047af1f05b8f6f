//! Connections of event streams.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::routes::stream::SseReader;

/// The number of bytes that a client may send on an event stream before the connection is closed.
const MAX_RECEIVED: usize = 4 * 1024;

/// Sends the frames of a reader until it ends or the client closes the connection.
pub(super) async fn serve(stream: TcpStream, mut reader: SseReader, write_time: Duration) {
    // Shared with the feed, which writes frames for all subscribers directly.
    let stream = Arc::new(stream);
    let mut received = 0;
    loop {
        let bytes = tokio::select! {
            biased;
            bytes = reader.next(Some(&stream)) => bytes,
            readable = stream.readable() => {
                let mut rest = [0; 256];
                match readable.and_then(|()| stream.try_read(&mut rest)) {
                    Ok(0) => return,
                    Ok(length) if received + length > MAX_RECEIVED => return,
                    Ok(length) => received += length,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(_) => return,
                }
                continue;
            }
        };
        let Some(bytes) = bytes else { break };
        // Usually the socket buffer takes all bytes, and no timer is needed.
        let rest = match stream.try_write(&bytes) {
            Ok(length) if length == bytes.len() => continue,
            Ok(length) => bytes.slice(length..),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => bytes,
            Err(_) => return,
        };
        if !Box::pin(write(&stream, &rest, write_time)).await {
            return;
        }
    }
    drop(reader);
    if let Some(mut stream) = Arc::into_inner(stream) {
        let _ = stream.shutdown().await;
    }
}

/// Writes all bytes. Returns false if the connection fails, or accepts no bytes for `write_time`.
async fn write(stream: &TcpStream, mut bytes: &[u8], write_time: Duration) -> bool {
    while !bytes.is_empty() {
        if !matches!(tokio::time::timeout(write_time, stream.writable()).await, Ok(Ok(()))) {
            return false;
        }
        match stream.try_write(bytes) {
            Ok(length) if length > 0 => bytes = bytes.get(length..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            _ => return false,
        }
    }
    true
}
