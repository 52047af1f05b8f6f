//! A computed PNG image.

/// The width and the height in pixels.
const SIZE: u8 = 64;

/// Returns a PNG file with coloured rings.
pub(super) fn image() -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    // Eight bits per pixel, an index into the palette.
    chunk(&mut file, *b"IHDR", &[0, 0, 0, SIZE, 0, 0, 0, SIZE, 8, 3, 0, 0, 0]);
    let palette: Vec<u8> = (0..=u8::MAX).flat_map(|level| [level, 96, u8::MAX - level]).collect();
    chunk(&mut file, *b"PLTE", &palette);
    chunk(&mut file, *b"IDAT", &stored(&pixels()));
    chunk(&mut file, *b"IEND", &[]);
    file
}

/// Returns the pixels. Each line begins with the byte for no filter.
fn pixels() -> Vec<u8> {
    let middle = i32::from(SIZE) / 2;
    let line = |y: i32| {
        let rings = (0..i32::from(SIZE)).map(move |x| {
            let distance = (x - middle).pow(2) + (y - middle).pow(2);
            u8::try_from(distance / 4 % 256).unwrap_or_default()
        });
        std::iter::once(0).chain(rings)
    };
    (0..i32::from(SIZE)).flat_map(line).collect()
}

/// Wraps data in a zlib stream without compression.
fn stored(data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).unwrap_or(u16::MAX);
    let mut stream = vec![0x78, 0x01, 1];
    stream.extend(length.to_le_bytes());
    stream.extend((!length).to_le_bytes());
    stream.extend(data);
    stream.extend(adler32(data).to_be_bytes());
    stream
}

fn chunk(file: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    file.extend(u32::try_from(data.len()).unwrap_or_default().to_be_bytes());
    let begin = file.len();
    file.extend(kind);
    file.extend(data);
    let sum = crc32(file.get(begin..).unwrap_or_default());
    file.extend(sum.to_be_bytes());
}

fn adler32(data: &[u8]) -> u32 {
    const PRIME: u32 = 65_521;
    let (low, high) = data.iter().fold((1, 0), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % PRIME;
        (low, (high + low) % PRIME)
    });
    high << 16 | low
}

fn crc32(data: &[u8]) -> u32 {
    !data.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xEDB8_8320 } else { sum >> 1 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_match_reference_values() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(adler32(b"Wikipedia"), 0x11E6_0398);
    }

    #[test]
    fn image_is_complete() {
        let file = image();
        assert!(file.ends_with(b"IEND\xaeB\x60\x82"));
        assert_eq!(pixels().len(), 65 * 64);
    }
}
