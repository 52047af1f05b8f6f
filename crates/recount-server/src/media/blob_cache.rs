//! Storage of the blobs whose URLs readers receive.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use recount_log::{Digest, Error, Session};

/// A blob to be stored before readers receive its URL.
#[derive(Debug)]
pub(crate) struct BlobUpload {
    pub(crate) digest: Digest,
    pub(crate) media_type: String,
    pub(crate) bytes: Vec<u8>,
}

/// Remembers the blobs that were stored recently, by tenant, so that they are not stored again for each reader.
#[derive(Debug, Default)]
pub(crate) struct BlobCache {
    stored: Mutex<HashMap<(String, Digest), Instant>>,
}

/// The time for which a stored blob is remembered. The log keeps unreferenced blobs for a day after their last upload.
const CACHE_TTL: Duration = Duration::from_secs(3_600);
/// The maximum number of remembered blobs.
const CAPACITY: usize = 16_384;

impl BlobCache {
    /// Stores blobs for the tenant of a session.
    ///
    /// # Errors
    ///
    /// Returns an error if the log cannot store them.
    pub(crate) async fn store(&self, session: &Session, uploads: Vec<BlobUpload>) -> Result<(), Error> {
        for BlobUpload { digest, media_type, bytes } in uploads {
            let key = (session.key().tenant().to_owned(), digest);
            if self.is_stored(&key) {
                continue;
            }
            session.log().upload(&key.0, &media_type, bytes).await?;
            let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
            if stored.len() >= CAPACITY {
                stored.clear();
            }
            stored.insert(key, Instant::now());
        }
        Ok(())
    }

    fn is_stored(&self, key: &(String, Digest)) -> bool {
        let stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        stored.get(key).is_some_and(|since| since.elapsed() < CACHE_TTL)
    }
}
