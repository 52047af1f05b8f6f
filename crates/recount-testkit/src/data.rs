//! Bytes in base64, and the pieces that they come in.

use recount_message::Base64Source;

use crate::random::Random;
use crate::words;

/// Some bytes.
pub fn bytes(random: &mut Random) -> Vec<u8> {
    (0..random.below(12)).map(|_| random.number() as u8).collect()
}

/// Bytes in base64, with padding.
pub fn base64(bytes: &[u8]) -> String {
    Base64Source::new(bytes, "").data
}

/// Pieces that are complete by themselves, each with its padding: the only ones that AgentScope Python can join.
pub fn padded_pieces(random: &mut Random) -> Vec<String> {
    (0..random.between(1, 4)).map(|_| base64(&bytes(random))).collect()
}

/// Pieces of which some are complete and others cut anywhere.
///
/// Once the text ends in padding it can only go on with complete pieces, until the bytes so far fill whole groups.
pub fn pieces(random: &mut Random) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut length = 0;
    for _ in 0..random.between(1, 3) {
        let run = bytes(random);
        let text = base64(&run);
        if length % 3 == 0 && random.chance(60) {
            pieces.extend(words::pieces(random, &text));
        } else {
            pieces.push(text);
        }
        length += run.len();
    }
    pieces
}
