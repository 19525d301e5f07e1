//! The types that verbs decode with.

use timeloom_bag::Decoder;
use timeloom_bag::storage::FileInfo;
use timeloom_msg::{AmentIndex, TypeResolver};

use crate::environment::{AMENT_PREFIX_PATH, text};

/// The resolver of all verbs: built-in types, and the packages below `AMENT_PREFIX_PATH`.
pub(crate) fn resolver() -> TypeResolver {
    TypeResolver::new(AmentIndex::from_prefix_path(&text(AMENT_PREFIX_PATH)))
}

/// A decoder for the messages of a bag.
pub(crate) fn decoder(info: &FileInfo) -> Decoder {
    Decoder::new(info, &resolver())
}
