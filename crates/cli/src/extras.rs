//! Attachments and metadata records that an output does not hold.

use timeloom_bag::storage::ExtraCounts;
use timeloom_text::counted;

use crate::context::Context;

/// Their number as text.
pub(crate) fn described(extras: ExtraCounts) -> String {
    format!(
        "{}, {}",
        counted(extras.attachments, "attachment"),
        counted(extras.metadata_records, "metadata record")
    )
}

/// Says what is missing in an output and why; whether anything is.
pub(crate) fn warn_left_out(left: ExtraCounts, reason: &str, context: &mut Context) -> bool {
    if !left.is_empty() {
        let extras = described(left);
        context
            .printer
            .warning(&format!("{extras} were not carried over: {reason}"));
    }
    !left.is_empty()
}
