//! Serialization of hints.

use recount_message::{ContentBlock, HintBlock, Json};
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(super) fn serialize<S: Serializer>(hints: &[HintBlock], serializer: S) -> Result<S::Ok, S::Error> {
    let written: Result<Vec<Json>, _> =
        hints.iter().map(|hint| Json::parse(&ContentBlock::Hint(hint.clone()).to_json())).collect();
    written.map_err(S::Error::custom)?.serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<HintBlock>, D::Error> {
    let written = Vec::<Json>::deserialize(deserializer)?;
    written
        .iter()
        .map(|hint| match ContentBlock::from_json(hint.as_raw(), "", "").map_err(D::Error::custom)? {
            ContentBlock::Hint(hint) => Ok(hint),
            other => Err(D::Error::custom(format!("expected a hint, got a block of type {}", other.type_name()))),
        })
        .collect()
}
