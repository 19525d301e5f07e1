//! The `ETag` of S3: the MD5 of an object, or of the MD5s of its parts with their number.

use std::fmt::Write as _;

use md5::{Digest as _, Md5};

/// The MD5 of some bytes, as 32 hexadecimal digits.
pub(super) fn md5_of(bytes: &[u8]) -> String {
    hex(&Md5::digest(bytes))
}

/// The MD5 of bytes that come piece by piece.
#[derive(Default)]
pub(super) struct Running(Md5);

impl Running {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(super) fn finish(self) -> String {
        hex(&self.0.finalize())
    }
}

/// The `ETag` of an object that was sent in parts with these MD5s.
pub(super) fn tag_of_parts<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut all = Md5::new();
    let mut count = 0_usize;
    for part in parts {
        all.update(bytes_of(part));
        count += 1;
    }
    format!("{}-{count}", hex(&all.finalize()))
}

/// Whether a tag of the server is such a hash; with server-side encryption it is something else.
pub(super) fn is_hash(tag: &str) -> bool {
    let digits = tag.split('-').next().unwrap_or_default();
    digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A tag without its quotation marks.
pub(super) fn plain(tag: &str) -> &str {
    tag.trim_matches('"')
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _written = write!(text, "{byte:02x}");
        text
    })
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks(2);
    pairs
        .filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_those_of_s3() {
        assert_eq!(md5_of(b""), "d41d8cd98f00b204e9800998ecf8427e");
        let parts = [md5_of(b"a"), md5_of(b"b")];
        let tag = tag_of_parts(parts.iter().map(String::as_str));
        assert_eq!(
            tag,
            format!(
                "{}-2",
                md5_of(&[bytes_of(&parts[0]), bytes_of(&parts[1])].concat())
            )
        );
        assert!(is_hash(&tag) && is_hash(&parts[0]));
        assert!(
            !is_hash("CJqG0ObI") && !is_hash("") && !is_hash("x41d8cd98f00b204e9800998ecf8427e")
        );
        assert_eq!(plain("\"abc\""), "abc");
    }
}
