//! Bringing all that a request wants.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::task::JoinSet;

use super::{FetchMedia, MediaError, MediaErrorKind};
use crate::format::{Media, MediaRef};

/// How many are fetched at the same time.
const MAX_CONCURRENT: usize = 6;

/// How much may be fetched for one call altogether. More would not be taken by any provider.
const MAX_TOTAL_BYTES: usize = 64 << 20;

/// What was fetched for one call. Another model of the same call may want more, and gets what is there already.
#[derive(Debug, Default)]
pub(crate) struct MediaCollector {
    pub(crate) media: Media,
    pub(crate) errors: Vec<MediaError>,
    requested: BTreeSet<String>,
    bytes: usize,
}

impl MediaCollector {
    /// Brings what was not requested for before. When this is dropped before it is done, all fetches end.
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
            // A fetcher that panics has fetched nothing, which the formatter says.
            let Ok((wanted, fetched)) = done else { continue };
            match fetched {
                Ok(bytes) if self.bytes + bytes.len() > MAX_TOTAL_BYTES => {
                    let reason = format!("all media together are larger than {MAX_TOTAL_BYTES} bytes");
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
