//! Metadata that was read already: that inside of a file is often the same as `metadata.yaml`, and is not parsed again.

use std::sync::Arc;

use super::BagMetadata;
use super::read::ROOT;

/// The metadata of a bag with its text, which is of the form that [`Form::Block`](crate::yaml::Form::Block) is.
#[derive(Clone, Copy)]
pub(crate) struct KnownMetadata<'a> {
    pub(crate) text: &'a str,
    pub(crate) metadata: &'a Arc<BagMetadata>,
}

impl KnownMetadata<'_> {
    /// The metadata inside of a file; `None` if it is malformed.
    pub(crate) fn parse_embedded(known: Option<Self>, text: &str) -> Option<Arc<BagMetadata>> {
        match known.filter(|known| is_below_root(text, known.text)) {
            Some(known) => Some(Arc::clone(known.metadata)),
            None => BagMetadata::parse(text).ok().map(Arc::new),
        }
    }
}

/// Whether a text is the map below the root of another one, with less indentation. In that form it means the same.
fn is_below_root(text: &str, file: &str) -> bool {
    let below = file
        .strip_prefix(ROOT)
        .and_then(|rest| rest.strip_prefix(":\n"));
    let Some(below) = below.filter(|_| !text.starts_with(' ')) else {
        return false;
    };
    let mut rest = text.trim_end_matches('\n').as_bytes();
    let below = below.trim_end_matches('\n').as_bytes();
    for line in below.split_inclusive(|byte| *byte == b'\n') {
        let line = line.strip_prefix(b"  ");
        match line.and_then(|line| rest.strip_prefix(line)) {
            Some(further) => rest = further,
            None => return false,
        }
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::Form;

    const BARE: &str =
        "version: 9\nstorage_identifier: mcap\nmessage_count: 3\nfiles:\n  - path: a";

    fn below_root(bare: &str) -> String {
        let lines = bare.lines().map(|line| format!("  {line}\n"));
        format!("{ROOT}:\n{}", lines.collect::<String>())
    }

    fn known(text: &str) -> Arc<BagMetadata> {
        let (metadata, form) = BagMetadata::parse_with_form(text).unwrap();
        assert_eq!(form, Form::Block);
        Arc::new(metadata)
    }

    #[test]
    fn the_same_metadata_is_not_parsed_again() {
        let text = below_root(BARE);
        let metadata = &known(&text);
        let known = Some(KnownMetadata {
            text: &text,
            metadata,
        });
        for bare in [BARE.to_owned(), format!("{BARE}\n")] {
            let embedded = KnownMetadata::parse_embedded(known, &bare).unwrap();
            assert!(Arc::ptr_eq(&embedded, metadata));
            assert_eq!(*embedded, BagMetadata::parse(&bare).unwrap());
        }
    }

    #[test]
    fn other_metadata_is_parsed() {
        let text = below_root(BARE);
        let metadata = &known(&text);
        let known = Some(KnownMetadata {
            text: &text,
            metadata,
        });
        let longer = format!("{BARE}\n  - path: b");
        let shorter = BARE.strip_suffix("  - path: a").unwrap().to_owned() + "  []";
        let changed = BARE.replace("count: 3", "count: 4");
        let with_root = text.clone();
        for other in [&longer, &shorter, &changed, &with_root] {
            let embedded = KnownMetadata::parse_embedded(known, other).unwrap();
            assert!(!Arc::ptr_eq(&embedded, metadata), "{other}");
            assert_eq!(*embedded, BagMetadata::parse(other).unwrap());
        }
        for broken in ["", "version", &BARE[..40], &format!("  {BARE}")] {
            let embedded = KnownMetadata::parse_embedded(known, broken);
            assert_eq!(
                embedded.as_deref(),
                BagMetadata::parse(broken).ok().as_ref()
            );
        }
    }
}
