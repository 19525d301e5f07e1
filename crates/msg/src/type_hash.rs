//! RIHS01: the hash of a type in ROS 2 since Iron.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use crate::{Error, Result, TypeDescription};

const PREFIX: &str = "RIHS01_";

/// The RIHS01 hash of a type: SHA-256 over its type description.
///
/// ```
/// use timeloom_msg::{Definitions, TypeHash};
///
/// let hash = Definitions::builtin().schema("std_msgs/msg/String")?.type_hash()?;
/// let text = hash.to_string();
/// assert!(text.starts_with("RIHS01_df668c74"));
/// assert_eq!(text.parse::<TypeHash>()?, hash);
/// # Ok::<(), timeloom_msg::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeHash([u8; 32]);

impl TypeHash {
    /// The hash of a type description.
    pub fn of(description: &TypeDescription) -> Self {
        Self(Sha256::digest(description.to_hash_json()).into())
    }

    /// A hash from its 32 bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for TypeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for TypeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for TypeHash {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |reason| Error::TypeHash {
            text: text.chars().take(100).collect(),
            reason,
        };
        let digits = text
            .strip_prefix(PREFIX)
            .ok_or_else(|| wrong("it must start with RIHS01_"))?;
        if digits.len() != 64 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(wrong("it must have 64 hexadecimal digits"));
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
            let pair = str::from_utf8(pair)
                .ok()
                .ok_or_else(|| wrong("it must be ASCII"))?;
            *byte = u8::from_str_radix(pair, 16)
                .ok()
                .ok_or_else(|| wrong("it must be hexadecimal"))?;
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_both_ways() {
        let text = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";
        assert_eq!(text.parse::<TypeHash>().unwrap().to_string(), text);
        for bad in [
            "",
            "RIHS02_00",
            "RIHS01_",
            "RIHS01_xx668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18",
            &text[..70],
        ] {
            assert!(bad.parse::<TypeHash>().is_err(), "{bad}");
        }
    }
}
