//! Where bags come from: the one place that turns what a user wrote into a reader.

use std::path::Path;

use timeloom_bag::{BagReader, TopicInfo};
use timeloom_msg::{Schema, TypeResolver};

/// Opens bags by name, and knows the types of their topics.
///
/// Every read of a query goes through it: bags that are not on this disk need no more than another source.
pub trait BagSource: Send + Sync + 'static {
    /// Opens a bag anew; each partition of a query has a reader of its own. May block.
    ///
    /// # Errors
    /// When there is no such bag, or nothing of it can be read.
    fn open(&self, bag: &str) -> timeloom_bag::Result<BagReader>;

    /// The type of a topic in a bag of this distribution: what the bag itself says, else the built-in definition.
    ///
    /// # Errors
    /// Why there is none, in words.
    fn schema(&self, topic: &TopicInfo, ros_distro: &str) -> std::result::Result<Schema, String> {
        let found = topic.schema(&TypeResolver::default().for_distro(ros_distro));
        found.map_err(|error| error.to_string())
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
