//! Random base64 data, whole and in pieces.

use recount_message::Base64Source;

use crate::random::Random;
use crate::samples;

/// Returns up to 11 random bytes.
pub fn bytes(random: &mut Random) -> Vec<u8> {
    (0..random.below(12)).map(|_| random.number() as u8).collect()
}

/// Encodes bytes as base64 with padding.
pub fn base64(bytes: &[u8]) -> String {
    Base64Source::new(bytes, "").data
}

/// Generates pieces that are valid base64 by themselves. AgentScope Python can join only such pieces.
pub fn padded_pieces(random: &mut Random) -> Vec<String> {
    (0..random.between(1, 4)).map(|_| base64(&bytes(random))).collect()
}

/// Generates pieces of which some are valid base64 by themselves and others are split at any position.
///
/// After a piece with padding, only complete pieces can follow until the total length is a multiple of three bytes.
pub fn pieces(random: &mut Random) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut length = 0;
    for _ in 0..random.between(1, 3) {
        let run = bytes(random);
        let text = base64(&run);
        if length % 3 == 0 && random.chance(60) {
            pieces.extend(samples::pieces(random, &text));
        } else {
            pieces.push(text);
        }
        length += run.len();
    }
    pieces
}
