//! Token usage.

use recount_message::wire::Raw;
use recount_message::{DecodeError, Usage};

use super::Version;
use super::fields::JavaFields;
use crate::json::ObjectWriter;

/// Parses Java's token counts. Missing counts are zero.
pub(crate) fn read(raw: Raw<'_>) -> Result<Usage, DecodeError> {
    let mut fields = JavaFields::of(raw)?;
    let mut count = |name| fields.count(name).map(Option::unwrap_or_default);
    Ok(Usage::new(count("inputTokens")?, count("outputTokens")?).with_cache_input_tokens(count("cachedTokens")?))
}

/// Writes Java's token counts, limited to `i32::MAX`. The duration is unknown and written as zero.
pub(crate) fn write(usage: &Usage, version: Version, out: &mut String) {
    const MAX: u64 = i32::MAX as u64;
    let mut object = ObjectWriter::jackson(out);
    for (name, count) in [
        ("inputTokens", usage.input_tokens),
        ("outputTokens", usage.output_tokens),
        ("cachedTokens", usage.cache_input_tokens),
    ] {
        if name != "cachedTokens" || version == Version::Two {
            object.raw(name, &count.min(MAX).to_string());
        }
    }
    object.raw("time", "0.0");
    let total = usage.input_tokens.min(MAX) + usage.output_tokens.min(MAX);
    object.raw("totalTokens", &total.min(MAX).to_string());
    object.end();
}
