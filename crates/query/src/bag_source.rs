//! Opens the bags of a query.

use std::path::Path;
use std::sync::Arc;

use timeloom_bag::{BagReader, BagSummary};
use timeloom_msg::TypeResolver;

/// Opens bags by name, and resolves types that a bag does not define.
///
/// All reads of a query go through it: implement it for bags that are not on this disk.
pub trait BagSource: Send + Sync + 'static {
    /// Opens a bag; each partition of a query has its own reader. May block.
    ///
    /// # Errors
    /// When the bag does not exist or cannot be read.
    fn open(&self, bag: &str) -> timeloom_bag::Result<BagReader>;

    /// The summary of a bag that a catalogue holds in its current version; `None` opens the bag. Only topics of the
    /// summary are read.
    fn summary(&self, _bag: &str) -> Option<Arc<BagSummary>> {
        None
    }

    /// Whether a bag that cannot be opened is one of the [`Findings`](crate::Findings), and not an error.
    fn may_be_unreadable(&self, _bag: &str) -> bool {
        false
    }

    /// Resolves types that a bag does not define.
    fn types(&self) -> TypeResolver {
        TypeResolver::default()
    }
}

/// Bags on this machine: directories and single files.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalBags;

impl BagSource for LocalBags {
    fn open(&self, bag: &str) -> timeloom_bag::Result<BagReader> {
        BagReader::open(Path::new(bag))
    }
}
