//! A bag in the catalogue.

use std::sync::Arc;

use timeloom_bag::BagSummary;

use crate::FoundBag;

/// What the catalogue holds of one bag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Names, sizes and versions of its files when it was opened.
    pub identity: String,
    /// Whether every later change shows in the identity. It does not if a file was changed right before the bag was
    /// opened, where versions consist of times.
    pub is_settled: bool,
    /// The result of opening it.
    pub content: Content,
}

/// The result of opening a bag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// The contents.
    Bag(Arc<BagSummary>),
    /// Why it could not be opened.
    Unreadable(String),
}

impl Entry {
    /// The contents of a bag that was found, if they are certain: its files are those that were opened.
    pub fn certain(&self, bag: &FoundBag) -> Option<&Arc<BagSummary>> {
        match &self.content {
            Content::Bag(summary) if self.is_settled && self.identity == bag.identity => {
                Some(summary)
            }
            _ => None,
        }
    }
}
