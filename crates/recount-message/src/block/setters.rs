//! Setters that all blocks share.

use super::{DataBlock, HintBlock, TextBlock, ThinkingBlock, ToolCallBlock, ToolResultBlock};
use crate::Json;

macro_rules! setters {
    ($($block:ident = $example:literal;)+) => {$(
        impl $block {
            /// Sets the time at which the block began. Consumes the block and returns the changed one.
            ///
            /// ```
            #[doc = concat!("use recount_message::", stringify!($block), ";")]
            ///
            #[doc = concat!("let block = ", $example, ".with_created_at(\"2026-01-01T00:00:00Z\");")]
            /// assert_eq!(block.created_at, "2026-01-01T00:00:00Z");
            /// ```
            pub fn with_created_at(mut self, time: impl Into<String>) -> Self {
                self.created_at = time.into();
                self
            }

            /// Sets the time at which the block was complete. Consumes the block and returns the changed one.
            ///
            /// ```
            #[doc = concat!("use recount_message::", stringify!($block), ";")]
            ///
            #[doc = concat!("let block = ", $example, ".with_finished_at(\"2026-01-01T00:00:01Z\");")]
            /// assert_eq!(block.finished_at.as_deref(), Some("2026-01-01T00:00:01Z"));
            /// ```
            pub fn with_finished_at(mut self, time: impl Into<String>) -> Self {
                self.finished_at = Some(time.into());
                self
            }

            /// Sets an undeclared field, such as one that a provider adds. Declared fields are ignored. Consumes the block
            /// and returns the changed one.
            ///
            /// ```
            #[doc = concat!("use recount_message::", stringify!($block), ";")]
            ///
            #[doc = concat!("let block = ", $example, ".with_extra(\"signature\", \"EqoB…\").with_extra(\"type\", \"poll\");")]
            /// assert_eq!(block.extra.get("signature").unwrap().as_str(), Some("EqoB…"));
            /// assert_eq!(block.extra.len(), 1);
            /// ```
            pub fn with_extra(mut self, key: impl Into<String>, value: impl Into<Json>) -> Self {
                let key = key.into();
                if !Self::declares(&key) {
                    self.extra.insert(key, value);
                }
                self
            }
        }
    )+};
}

setters! {
    TextBlock = "TextBlock::new(\"Hello\")";
    ThinkingBlock = "ThinkingBlock::new(\"First, …\")";
    DataBlock = "DataBlock::from_bytes(b\"GIF89a\")";
    HintBlock = "HintBlock::new(\"It is noon.\")";
    ToolCallBlock = "ToolCallBlock::new(\"c1\", \"search\", \"{}\")";
    ToolResultBlock = "ToolResultBlock::success(\"c1\", \"search\", \"3 hits\")";
}
