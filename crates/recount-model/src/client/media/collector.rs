//! Fetches the media of a call.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::task::JoinSet;

use super::{FetchMedia, MediaError, MediaErrorKind};
use crate::format::{Media, MediaRef};

/// The maximum number of concurrent fetches.
const MAX_CONCURRENT: usize = 6;

/// The maximum total size for one call, above the limit of every provider.
const MAX_TOTAL_BYTES: usize = 64 << 20;

/// The media fetched for one call. Later models of the same call reuse them.
#[derive(Debug, Default)]
pub(crate) struct MediaCollector {
    pub(crate) media: Media,
    pub(crate) errors: Vec<MediaError>,
    requested: BTreeSet<String>,
    bytes: usize,
}

impl MediaCollector {
    /// Fetches the files and URLs that were not requested before. Dropping the future cancels all fetches.
    pub(crate) async fn fetch_all(&mut self, wanted: Vec<MediaRef>, fetcher: &Arc<dyn FetchMedia>) {
        let mut wanted =
            wanted.into_iter().filter(|wanted| self.requested.insert(wanted.url.clone())).collect::<Vec<_>>();
        wanted.reverse();
        let mut running = JoinSet::new();
        loop {
            while running.len() < MAX_CONCURRENT
                && let Some(next) = wanted.pop()
            {
                let fetcher = Arc::clone(fetcher);
                running.spawn(async move {
                    let fetched = fetcher.fetch(&next).await;
                    (next, fetched)
                });
            }
            let Some(done) = running.join_next().await else { return };
            // If the fetcher panicked, the media is missing, and the formatter adds a warning.
            let Ok((wanted, fetched)) = done else { continue };
            match fetched {
                Ok(bytes) if self.bytes + bytes.len() > MAX_TOTAL_BYTES => {
                    let reason = format!("the media of the call exceed {MAX_TOTAL_BYTES} bytes in total");
                    self.errors.push(MediaError::new(&wanted, MediaErrorKind::TooLarge, reason));
                }
                Ok(bytes) => {
                    self.bytes += bytes.len();
                    self.media.insert(wanted.url, bytes);
                }
                Err(error) => self.errors.push(error),
            }
        }
    }
}
