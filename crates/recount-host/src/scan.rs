//! Checks on the text of events that avoid parsing them.

/// Whether an event may be an input that a reply waits for.
pub(crate) fn may_be_input(text: &[u8]) -> bool {
    contains(text, b"\"USER_CONFIRM_RESULT\"")
        || contains(text, b"\"EXTERNAL_EXECUTION_RESULT\"")
        || contains(text, b"\"USER_INTERRUPT\"")
}

/// Whether a text contains a word.
pub(crate) fn contains(text: &[u8], word: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| std::str::from_utf8(word).is_ok_and(|word| text.contains(word)))
}
