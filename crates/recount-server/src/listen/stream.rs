//! A connection that follows a session and does nothing else.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::routes::stream::SseReader;

/// How much somebody may send who should only listen.
const MOST_SENT: usize = 4 * 1024;

/// Sends what there is to send, until either side has enough.
pub(super) async fn serve(stream: TcpStream, mut reader: SseReader, write_time: Duration) {
    // What comes to all who follow the session is not sent from here, so it is shared.
    let stream = Arc::new(stream);
    let mut sent = 0;
    loop {
        let bytes = tokio::select! {
            biased;
            bytes = reader.next(Some(&stream)) => bytes,
            readable = stream.readable() => {
                let mut rest = [0; 256];
                match readable.and_then(|()| stream.try_read(&mut rest)) {
                    Ok(0) => return,
                    Ok(length) if sent + length > MOST_SENT => return,
                    Ok(length) => sent += length,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(_) => return,
                }
                continue;
            }
        };
        let Some(bytes) = bytes else { break };
        // The usual case needs no timer: the system takes all of it.
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

/// Writes all of it, as long as the other side takes something now and then.
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
