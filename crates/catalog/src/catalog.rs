//! The catalogue of a folder of bags.

use std::collections::BTreeMap;
use std::sync::Arc;

use timeloom_bag::BagSummary;

use crate::{Entry, FoundBag};

/// The name of the table in the folder of the bags.
pub const CATALOG_FILE: &str = "timeloom_catalog.parquet";

/// What is known of the bags below a folder, by their names below it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Catalog {
    /// The bags.
    pub entries: BTreeMap<String, Entry>,
}

impl Catalog {
    /// The contents of a bag that was found, if they are certain.
    pub fn certain(&self, bag: &FoundBag) -> Option<&Arc<BagSummary>> {
        self.entries.get(&bag.name)?.certain(bag)
    }
}
