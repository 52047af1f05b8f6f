//! Uploads and their deletion.

use std::collections::BTreeMap;

use recount_log::storage::{Upload, View};
use recount_log::{Digest, Request};
use recount_testkit::laws::Broken;

use super::{Verdict, World};
use crate::model::contents;

/// The stored uploads, and the times of their last upload.
pub(super) type Uploads = BTreeMap<Digest, i64>;

/// The age at which an unreferenced upload is deleted.
const KEPT_FOR: i64 = 10_000;

impl World {
    /// Uploads something, or deletes old unreferenced uploads.
    pub(super) fn request_about_uploads(&mut self) -> Request {
        let now = self.now();
        if self.random.chance(30) {
            return Request::Sweep { before: now - KEPT_FOR };
        }
        let contents: Vec<&'static str> = contents().collect();
        let bytes = self.random.pick(&contents);
        let (digest, media_type) = (Digest::of(bytes.as_bytes()), "image/png".to_owned());
        Request::Upload(Upload { tenant: String::new(), digest, media_type, at: now, bytes: bytes.into() })
    }

    pub(super) fn uploaded(&mut self, upload: &Upload) {
        let at = self.uploads.entry(upload.digest).or_insert(upload.at);
        *at = upload.at.max(*at);
    }

    /// Removes the uploads that a sweep deletes from the model.
    pub(super) fn swept(&mut self, before: i64) {
        let models = || self.models.values().chain(&self.left_drafts);
        let is_named = |digest| models().any(|model| model.names.contains(digest));
        let kept = self.uploads.iter().filter(|(digest, at)| **at >= before || is_named(digest));
        let kept: Uploads = kept.map(|(digest, at)| (*digest, *at)).collect();
        self.tally.swept += self.uploads.len() - kept.len();
        self.uploads = kept;
    }

    /// Checks that exactly the uploads of the model are stored.
    pub(super) fn check_uploads(&self, view: &dyn View) -> Verdict {
        for bytes in contents() {
            let digest = Digest::of(bytes.as_bytes());
            let stored = view.upload("", digest).map_err(|error| Broken::new(error.to_string()))?;
            let is_other = stored.as_ref().is_some_and(|upload| &upload.bytes[..] != bytes.as_bytes());
            let (found, expected) = (stored.map(|upload| upload.at), self.uploads.get(&digest).copied());
            if is_other || found != expected {
                return Err(Broken::new(format!("the upload {bytes:?} is of {found:?}, not of {expected:?}")));
            }
        }
        Ok(())
    }
}
