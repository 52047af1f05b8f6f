//! Connections.
//!
//! Most are served by hyper. One whose first request is for a stream of events is not: such a connection does nothing else
//! for hours, there may be ten thousands of them, and two buffers of hyper's would be most of what each of them takes.

mod first;
mod refusal;
mod rewind;
mod stream;

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
use crate::guard::Ends;
use crate::problem::Problem;
use first::First;
use refusal::{Explained, refusal};
use rewind::Rewind;

/// How often readers hear something who would hear nothing otherwise.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How often it is looked whether tokens were revoked, for the sake of connections that are open.
const LOOK_AT_TOKENS: Duration = Duration::from_secs(1);
/// How long connections have to end when the service does.
const FAREWELL: Duration = Duration::from_secs(5);

/// Takes connections until it is told to stop, and then lets those that are there come to an end.
pub(crate) async fn serve(app: App, router: Router, listener: TcpListener, stop: CancellationToken) {
    let most = app.limits().connections();
    let room = Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS)));
    let mut connections = JoinSet::new();
    let mut beat = tokio::time::interval(HEARTBEAT);
    beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    beat.tick().await;
    let mut look = tokio::time::interval(LOOK_AT_TOKENS);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut tokens = app.tokens().stamp();
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, remote)) => match Arc::clone(&room).try_acquire_owned() {
                    Ok(permit) => {
                        connections.spawn(connection(app.clone(), router.clone(), stream, remote, permit));
                    }
                    Err(_) => {
                        app.metrics().limited("connections");
                        connections.spawn(turn_away(stream));
                    }
                },
                // Such as too many open files. Whoever is waiting goes on waiting.
                Err(error) => {
                    tracing::warn!(%error, "cannot take a connection");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            },
            _ = beat.tick() => app.heartbeat().send_replace(()),
            // Every connection asks at a heartbeat whether it is still welcome.
            _ = look.tick() => {
                let now = app.tokens().stamp();
                if now != tokens {
                    tokens = now;
                    app.heartbeat().send_replace(());
                }
            }
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
    drop(listener);
    let ended = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(FAREWELL, ended).await.is_err() {
        connections.shutdown().await;
    }
}

async fn connection(app: App, router: Router, stream: TcpStream, remote: SocketAddr, permit: OwnedSemaphorePermit) {
    let _permit = permit;
    let _counted = app.metrics().connection();
    let Ok(local) = stream.local_addr() else { return };
    let ends = Ends { remote, local };
    prepare(&stream, app.limits().write_time);
    let began = Instant::now();
    // Each of these is boxed, so that what a stream keeps for hours is not as large as what it took to begin it.
    match Box::pin(first::take(&app, stream, ends)).await {
        First::Stream(stream, reader) => {
            drop(router);
            stream::serve(stream, *reader, app.limits().write_time).await;
        }
        First::Other(stream) => {
            // What was spent on the beginning of a head is not there for the rest of it.
            let head_time = app.limits().head_time.saturating_sub(began.elapsed());
            Box::pin(serve_requests(app, router, stream, ends, head_time)).await;
        }
        First::Over => {}
    }
}

/// Serves whatever comes, with hyper.
async fn serve_requests(app: App, router: Router, stream: Rewind, ends: Ends, head_time: Duration) {
    let routes = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(ends);
        routes.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_time)
        .max_buf_size(64 * 1024)
        .serve_connection(TokioIo::new(Explained::new(stream)), service)
        .with_upgrades();
    tokio::pin!(connection);
    tokio::select! {
        result = connection.as_mut() => {
            if let Err(error) = result {
                tracing::debug!(%error, "a connection has broken off");
            }
            return;
        }
        () = app.closing().cancelled() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

/// Says to the system how a connection is used.
fn prepare(stream: &TcpStream, write_time: Duration) {
    // Events are small, and somebody waits for each.
    let _ = stream.set_nodelay(true);
    // Who takes nothing for so long is gone, whatever it was that was being sent.
    let milliseconds = u32::try_from(write_time.as_millis()).unwrap_or(u32::MAX);
    #[cfg(target_os = "linux")]
    let _ = rustix::net::sockopt::set_tcp_user_timeout(stream, milliseconds);
    #[cfg(not(target_os = "linux"))]
    let _ = milliseconds;
}

/// Says that there is no room, to who reads it at once.
async fn turn_away(mut stream: TcpStream) {
    let answer = refusal(&Problem::unavailable("there are too many connections").header(header::RETRY_AFTER, "1"));
    let tell = async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await?;
        // To close with something unread would take the answer back.
        let mut rest = [0; 1024];
        while stream.read(&mut rest).await? > 0 {}
        std::io::Result::Ok(())
    };
    let _ = tokio::time::timeout(Duration::from_secs(1), tell).await;
}
