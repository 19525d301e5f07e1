//! The secret that askers and workers share.

use std::fmt;
use std::sync::Arc;

use crate::{Error, Result};

/// Shorter secrets can be guessed.
const LEAST_LENGTH: usize = 16;

/// Text that the asker and all workers know, and that each request carries.
#[derive(Clone)]
pub struct Secret(Arc<str>);

impl Secret {
    /// A secret; spaces and line ends around it do not count.
    ///
    /// # Errors
    /// When it has fewer than 16 characters, or others than visible ASCII.
    pub fn new(text: &str) -> Result<Self> {
        let text = text.trim();
        if text.len() < LEAST_LENGTH {
            return Err(Error::Secret {
                reason: format!(
                    "it has {} characters, at least {LEAST_LENGTH} are needed",
                    text.chars().count()
                ),
            });
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Error::Secret {
                reason: "it may only have visible ASCII characters without spaces".to_owned(),
            });
        }
        Ok(Self(text.into()))
    }

    /// The value of the header `authorization`.
    pub(super) fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// Whether a header is that of this secret; takes as long for a wrong one as for the right one.
    pub(super) fn matches(&self, header: &[u8]) -> bool {
        let own = self.header();
        let differences = own
            .bytes()
            .zip(header.iter().copied().chain(std::iter::repeat(0)))
            .fold(0, |all, (own, given)| all | (own ^ given));
        differences == 0 && own.len() == header.len()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_secret_matches() {
        let secret = Secret::new("0123456789abcdef\n").unwrap();
        assert!(secret.matches(b"Bearer 0123456789abcdef"));
        for wrong in ["", "Bearer 0123456789abcdeg", "Bearer 0123456789abcdef0"] {
            assert!(!secret.matches(wrong.as_bytes()), "{wrong}");
        }
        assert_eq!(format!("{secret:?}"), "Secret(…)");
    }

    #[test]
    fn weak_and_unusable_secrets_are_refused() {
        for (text, words) in [
            ("short", "5 characters"),
            ("0123456789 abcdef", "visible ASCII"),
        ] {
            let error = Secret::new(text).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
