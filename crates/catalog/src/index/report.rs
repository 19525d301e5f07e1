//! What a run of the index did.

use timeloom_bag::BagSummary;

/// The outcome of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IndexReport {
    /// Bags that are there.
    pub bags: u64,
    /// Bags that are new in the catalogue.
    pub added: Vec<String>,
    /// Bags whose files changed.
    pub changed: Vec<String>,
    /// Bags that the catalogue knows as they are.
    pub unchanged: u64,
    /// Bags that are gone.
    pub removed: Vec<String>,
    /// Bags that could not be opened, with the reason; queries try again.
    pub unreadable: Vec<(String, String)>,
    /// Bags with damage that may cost messages, with the first description.
    pub damaged: Vec<(String, String)>,
    /// Bags that changed while they were opened, or right before: queries open them until the next run.
    pub unsettled: Vec<String>,
    /// Bags that were opened.
    pub opened: u64,
    /// Bags that were taken from a catalogue further down.
    pub copied: u64,
    /// Folders that could not be listed, with the reason.
    pub unlisted: Vec<String>,
    /// Why the former table could not be used and was written anew.
    pub rebuilt: Option<String>,
    /// Whether the table was written.
    pub is_saved: bool,
    /// Bytes of the table.
    pub catalog_bytes: u64,
}

impl IndexReport {
    /// Whether something of the bags could not be read.
    pub fn is_incomplete(&self) -> bool {
        !(self.unreadable.is_empty() && self.damaged.is_empty() && self.unlisted.is_empty())
    }

    pub(super) fn count_damage(&mut self, name: &str, summary: &BagSummary) {
        if let Some(damage) = summary.costly_damage(name).next() {
            self.damaged.push((name.to_owned(), damage.to_owned()));
        }
    }
}
