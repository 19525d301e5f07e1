//! Opens the bags of a query.

use std::path::Path;

use timeloom_bag::BagReader;
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
