//! `serde` for types that have a native JSON form of their own.
//!
//! The JSON text passes through `serde_json` unchanged, so that number lexemes and unknown fields survive. Other formats
//! than `serde_json` are not supported.

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::hash::Fnv1a;
use super::scan::Raw;
use super::value::serialize_text;
use super::wire::{DecodeContext, Wire};
use crate::block::{
    Base64Source, ContentBlock, DataBlock, HintBlock, MediaBlock, Payload, PermissionRule, Source, TextBlock,
    ThinkingBlock, ToolCallBlock, ToolResultBlock, UnknownBlock, UrlSource,
};
use crate::event::ConfirmResult;
use crate::msg::{ErrorInfo, Usage};

macro_rules! serde_as_native_json {
    ($($type:ty),+ $(,)?) => {$(
        impl Serialize for $type {
            /// Writes native JSON. The format must be `serde_json`.
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut text = String::new();
                self.encode(&mut text);
                serialize_text(text, serializer)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            /// Parses native JSON. The format must be `serde_json`. Missing ids are derived from the content.
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = Box::<RawValue>::deserialize(deserializer)?;
                let owner = format!("{:016x}", Fnv1a::of(text.get()).value());
                let context = DecodeContext { owner: &owner, ..DecodeContext::default() };
                Raw::document(text.get()).and_then(|raw| Self::decode(raw, context)).map_err(Error::custom)
            }
        }
    )+};
}

serde_as_native_json!(
    Base64Source,
    ConfirmResult,
    ContentBlock,
    DataBlock,
    ErrorInfo,
    HintBlock,
    MediaBlock,
    Payload,
    PermissionRule,
    Source,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    UnknownBlock,
    UrlSource,
    Usage,
);
