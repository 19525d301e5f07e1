//! Damage of a bag: does it cost messages, and how is it repaired?

use std::path::Path;

use timeloom_bag::metadata::METADATA_FILE;

use crate::hint;

/// Whether messages may be missing; a `metadata.yaml` that is missing or wrong costs none.
pub(crate) fn means_loss(damage: &[String]) -> bool {
    damage
        .iter()
        .any(|damage| !damage.starts_with(METADATA_FILE))
}

/// A command that makes a bag readable for `ros2 bag`; `None` when it already is.
pub(crate) fn compatibility_remedy(bag: &Path, compatibility: &[String]) -> Option<String> {
    (!compatibility.is_empty()).then(|| hint::rewrite(bag))
}

/// A command that repairs a bag with this damage; `None` when there is none.
pub(crate) fn remedy(bag: &Path, damage: &[String]) -> Option<String> {
    if damage.is_empty() {
        return None;
    }
    Some(if means_loss(damage) {
        hint::recover(bag)
    } else {
        hint::reindex(bag)
    })
}
