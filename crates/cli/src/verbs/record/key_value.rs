//! `KEY=VALUE` on the command line.

use std::str::FromStr;

/// A key with a value behind it, or without.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeyValue {
    pub(super) key: String,
    pub(super) value: Option<String>,
}

impl FromStr for KeyValue {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, value) = match text.split_once('=') {
            Some((key, value)) => (key, Some(value.to_owned())),
            None => (text, None),
        };
        if key.is_empty() {
            return Err("the key before = is missing".into());
        }
        Ok(Self {
            key: key.to_owned(),
            value,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sign_separates() {
        let parse = |text: &str| text.parse::<KeyValue>().unwrap();
        assert_eq!(parse("a=b=c").value.as_deref(), Some("b=c"));
        assert_eq!(parse("/tf_static").value, None);
        assert_eq!(parse("k=").value.as_deref(), Some(""));
        assert!("=x".parse::<KeyValue>().is_err());
    }
}
