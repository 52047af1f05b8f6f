//! Bringing all that a request wants.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::task::JoinSet;

use super::{FetchMedia, MediaError, MediaErrorKind};
use crate::format::{Media, MediaRef};

/// How many are fetched at the same time.
const AT_ONCE: usize = 6;

/// How much may be fetched for one call altogether. More would not be taken by any provider.
const MOST_TOGETHER: usize = 64 << 20;

/// What was brought for one call. Another model of the same call may want more, and gets what is there already.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) media: Media,
    pub(crate) errors: Vec<MediaError>,
    asked: BTreeSet<String>,
    bytes: usize,
}

impl Gathered {
    /// Brings what was not asked for before. When this is dropped before it is done, all fetches end.
    pub(crate) async fn bring(&mut self, wanted: Vec<MediaRef>, fetcher: &Arc<dyn FetchMedia>) {
        let mut wanted = wanted.into_iter().filter(|wanted| self.asked.insert(wanted.url.clone())).collect::<Vec<_>>();
        wanted.reverse();
        let mut running = JoinSet::new();
        loop {
            while running.len() < AT_ONCE
                && let Some(next) = wanted.pop()
            {
                let fetcher = Arc::clone(fetcher);
                running.spawn(async move {
                    let brought = fetcher.fetch(&next).await;
                    (next, brought)
                });
            }
            let Some(done) = running.join_next().await else { return };
            // A fetcher that panics has brought nothing, which the formatter says.
            let Ok((wanted, brought)) = done else { continue };
            match brought {
                Ok(bytes) if self.bytes + bytes.len() > MOST_TOGETHER => {
                    let reason = format!("all media together are larger than {MOST_TOGETHER} bytes");
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
