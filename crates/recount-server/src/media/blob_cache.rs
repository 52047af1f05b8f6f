//! Bytes on their way to where URLs find them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use recount_log::{Digest, Error, Session};

/// Bytes that have to be kept before anybody is told of their URL.
#[derive(Debug)]
pub(crate) struct BlobUpload {
    pub(crate) digest: Digest,
    pub(crate) media_type: String,
    pub(crate) bytes: Vec<u8>,
}

/// What was kept lately, by tenant. It need not be written again for the next reader.
#[derive(Debug, Default)]
pub(crate) struct BlobCache {
    lately: Mutex<HashMap<(String, Digest), Instant>>,
}

/// For so long bytes are known to be there. They are removed a day after they were last uploaded.
const LATELY: Duration = Duration::from_secs(3_600);
const MOST: usize = 16_384;

impl BlobCache {
    /// Keeps bytes for a session's tenant.
    ///
    /// # Errors
    ///
    /// When the log does not take them.
    pub(crate) async fn keep(&self, session: &Session, uploads: Vec<BlobUpload>) -> Result<(), Error> {
        for BlobUpload { digest, media_type, bytes } in uploads {
            let place = (session.key().tenant().to_owned(), digest);
            if self.is_kept(&place) {
                continue;
            }
            session.log().upload(&place.0, &media_type, bytes).await?;
            let mut lately = self.lately.lock().unwrap_or_else(PoisonError::into_inner);
            if lately.len() >= MOST {
                lately.clear();
            }
            lately.insert(place, Instant::now());
        }
        Ok(())
    }

    fn is_kept(&self, place: &(String, Digest)) -> bool {
        let lately = self.lately.lock().unwrap_or_else(PoisonError::into_inner);
        lately.get(place).is_some_and(|since| since.elapsed() < LATELY)
    }
}
