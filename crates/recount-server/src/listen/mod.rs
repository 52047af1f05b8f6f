//! The listener and its connections.
//!
//! Hyper serves most connections. A connection whose first request is for an event stream is served by [`sse`] instead: it
//! stays open for hours, there may be tens of thousands of them, and hyper's two buffers would dominate their memory.

mod error_response;
mod first_request;
mod rewind;
mod sse;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use http::header;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::guard::ConnInfo;
use crate::problem::Problem;
use error_response::{ProblemRewriter, error_response};
use first_request::FirstRequest;
use rewind::Rewind;

/// The time that connections have to end at shutdown.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);
/// The pause after a failed accept, such as when there are too many open files.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);
/// The size of hyper's buffers per connection.
const BUFFER_SIZE: usize = 64 * 1024;

/// Accepts connections until `stop` is cancelled, and then waits for open connections to end.
pub(crate) async fn serve(app: App, router: Router, listener: TcpListener, stop: CancellationToken) {
    let max_connections = app.limits().max_connections();
    let permits = Arc::new(Semaphore::new(max_connections.min(Semaphore::MAX_PERMITS)));
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, remote)) => match Arc::clone(&permits).try_acquire_owned() {
                    Ok(permit) => {
                        connections.spawn(connection(app.clone(), router.clone(), stream, remote, permit));
                    }
                    Err(_) => {
                        app.metrics().limit_reached("connections");
                        connections.spawn(reject_connection(stream));
                    }
                },
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_RETRY).await;
                }
            },
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
    drop(listener);
    let ended = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(SHUTDOWN_GRACE, ended).await.is_err() {
        connections.shutdown().await;
    }
}

async fn connection(app: App, router: Router, stream: TcpStream, remote: SocketAddr, permit: OwnedSemaphorePermit) {
    let _permit = permit;
    let _gauge = app.metrics().connection();
    let Ok(local) = stream.local_addr() else { return };
    let conn = ConnInfo { remote, local: Some(local) };
    set_socket_options(&stream, app.limits().write_time);
    let started = Instant::now();
    // Boxed, so that the future of a long-lived stream does not contain the state of its first request.
    match Box::pin(first_request::read(&app, stream, conn)).await {
        FirstRequest::Stream(stream, reader) => {
            drop(router);
            sse::serve(stream, *reader, app.limits().write_time).await;
        }
        FirstRequest::Http(stream) => {
            let head_time = app.limits().head_time.saturating_sub(started.elapsed());
            Box::pin(serve_http(app, router, stream, conn, head_time)).await;
        }
        FirstRequest::Closed => {}
    }
}

/// Serves a connection with hyper.
async fn serve_http(app: App, router: Router, stream: Rewind, conn: ConnInfo, head_time: Duration) {
    let routes = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(conn);
        routes.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_time)
        .max_buf_size(BUFFER_SIZE)
        .serve_connection(TokioIo::new(ProblemRewriter::new(stream)), service)
        .with_upgrades();
    tokio::pin!(connection);
    tokio::select! {
        result = connection.as_mut() => {
            if let Err(error) = result {
                tracing::debug!(%error, "connection failed");
            }
            return;
        }
        () = app.closing().cancelled() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

fn set_socket_options(stream: &TcpStream, write_time: Duration) {
    // Events are small and latency matters.
    let _ = stream.set_nodelay(true);
    // Closes the connection if the client acknowledges no data for this long.
    let milliseconds = u32::try_from(write_time.as_millis()).unwrap_or(u32::MAX);
    #[cfg(target_os = "linux")]
    let _ = rustix::net::sockopt::set_tcp_user_timeout(stream, milliseconds);
    #[cfg(not(target_os = "linux"))]
    let _ = milliseconds;
}

/// Responds with 503 and closes the connection.
async fn reject_connection(mut stream: TcpStream) {
    let response = error_response(&Problem::unavailable("too many connections").header(header::RETRY_AFTER, "1"));
    let send = async {
        stream.write_all(response.as_bytes()).await?;
        stream.shutdown().await?;
        // Closing a socket with unread data would reset the connection and discard the response.
        let mut rest = [0; 1024];
        while stream.read(&mut rest).await? > 0 {}
        std::io::Result::Ok(())
    };
    let _ = tokio::time::timeout(Duration::from_secs(1), send).await;
}
