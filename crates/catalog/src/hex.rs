//! Bytes as text.

/// Two hexadecimal digits for each byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    // A half byte is a digit below 16.
    digits
        .filter_map(|digit| char::from_digit(u32::from(digit), 16))
        .collect()
}
