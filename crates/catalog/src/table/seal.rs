//! A hash over the bytes of a table, inside of it: other bytes never reach the reader of Parquet.
//!
//! The hash is a value of the metadata at the end of the file. It is computed with zeros in its place.

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use crate::hex::hex;
use crate::{Error, Result};

const KEY: &str = "timeloom.catalog.sha256";
/// Hexadecimal digits of the hash.
const DIGITS: usize = 64;

/// The metadata that makes room for the hash.
pub(super) fn room() -> (String, String) {
    (KEY.to_owned(), "0".repeat(DIGITS))
}

/// Enters the hash.
pub(super) fn seal(mut bytes: Vec<u8>) -> Result<Vec<u8>> {
    let missing = || Error::Encode {
        reason: "there is no room for the hash".to_owned(),
    };
    let at = find(&bytes, KEY).ok_or_else(missing)?;
    let hash = hex(&Sha256::digest(&bytes));
    let room = bytes.get_mut(at.clone()).ok_or_else(missing)?;
    if room != "0".repeat(DIGITS).as_bytes() {
        return Err(missing());
    }
    room.copy_from_slice(hash.as_bytes());
    Ok(bytes)
}

/// Compares the hash with the bytes.
pub(super) fn check(bytes: &Bytes) -> Result<()> {
    let damaged = |reason: &str| Error::Damaged {
        reason: reason.to_owned(),
    };
    let at =
        find(bytes, KEY).ok_or_else(|| damaged("it is no catalogue, or its end is missing"))?;
    let expected = bytes.get(at.clone()).unwrap_or_default();
    let mut hash = Sha256::new();
    hash.update(bytes.get(..at.start).unwrap_or_default());
    hash.update("0".repeat(DIGITS));
    hash.update(bytes.get(at.end..).unwrap_or_default());
    if expected.len() == DIGITS && hex(&hash.finalize()).as_bytes() == expected {
        return Ok(());
    }
    Err(damaged("its bytes do not fit its hash"))
}

/// The number of a metadata value, before anything is checked: a later format may have another hash.
pub(super) fn number(bytes: &Bytes, key: &str) -> Option<u64> {
    let value = bytes.get(find(bytes, key)?)?;
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// Where the value of a metadata key is. In Thrift's compact form, the text of the key is followed by the head of the next
/// field, its length, and its text.
fn find(bytes: &[u8], key: &str) -> Option<std::ops::Range<usize>> {
    let key = key.as_bytes();
    let at = bytes.windows(key.len()).rposition(|window| window == key)?;
    let head = at.checked_add(key.len())?;
    // Values of ours are shorter than 128 bytes, so that the length is one byte.
    let length = bytes.get(head.checked_add(1)?).copied()?;
    let start = head.checked_add(2)?;
    (length < 0x80).then(|| start..start.saturating_add(usize::from(length)))
}
