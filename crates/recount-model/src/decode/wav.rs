//! WAV headers for generated audio.

/// Returns a WAV header for raw samples: 24 kHz, mono, 16 bits. An unknown length is written as the maximum, which
/// players treat as "until the end".
pub(super) fn header(bytes_of_samples: Option<usize>) -> [u8; 44] {
    const RATE: u32 = 24_000;
    const CHANNELS: u16 = 1;
    const BITS: u16 = 16;
    const FRAME: u16 = CHANNELS * BITS / 8;
    let samples = bytes_of_samples.and_then(|count| u32::try_from(count).ok()).filter(|count| *count <= u32::MAX - 36);
    let whole = samples.map_or(u32::MAX, |count| count + 36);
    let mut header = [0; 44];
    let parts: [&[u8]; 13] = [
        b"RIFF",
        &whole.to_le_bytes(),
        b"WAVE",
        b"fmt ",
        &16_u32.to_le_bytes(),
        &1_u16.to_le_bytes(),
        &CHANNELS.to_le_bytes(),
        &RATE.to_le_bytes(),
        &(RATE * u32::from(FRAME)).to_le_bytes(),
        &FRAME.to_le_bytes(),
        &BITS.to_le_bytes(),
        b"data",
        &samples.unwrap_or(u32::MAX).to_le_bytes(),
    ];
    for (byte, value) in header.iter_mut().zip(parts.into_iter().flatten()) {
        *byte = *value;
    }
    header
}

/// Detects the media type of audio with a container. `None` for raw samples.
pub(super) fn container(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [b'R', b'I', b'F', b'F', ..] => Some("audio/wav"),
        [b'I', b'D', b'3', ..] => Some("audio/mpeg"),
        // The start of an MPEG layer III frame.
        [0xFF, second, ..] if second & 0xE6 == 0xE2 => Some("audio/mpeg"),
        [b'f', b'L', b'a', b'C', ..] => Some("audio/flac"),
        [b'O', b'g', b'g', b'S', ..] => Some("audio/ogg"),
        _ => None,
    }
}
