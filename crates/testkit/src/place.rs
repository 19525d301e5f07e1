//! The files of this machine, as a place that does something when a file is opened.

use std::path::Path;

use timeloom_bag::place::{Listing, LocalCopy, PlaceEntry, PlaceKind};
use timeloom_bag::{LocalPlace, Place, Result, Source};

/// What happens when a file is opened.
pub trait OnOpen: Send + Sync {
    /// The file that the reader gets.
    fn opened(&self, file: Box<dyn Source>) -> Box<dyn Source>;
}

/// The files of this machine. Every file that a reader opens goes through the hook.
#[derive(Debug, Default)]
pub struct HookedPlace<H>(pub H);

impl<H: OnOpen> Place for HookedPlace<H> {
    fn kind(&self, path: &Path) -> Result<PlaceKind> {
        LocalPlace.kind(path)
    }

    fn size(&self, path: &Path) -> Result<Option<u64>> {
        LocalPlace.size(path)
    }

    fn list(&self, folder: &Path) -> Result<Vec<PlaceEntry>> {
        LocalPlace.list(folder)
    }

    fn list_below(&self, folder: &Path) -> Result<Listing> {
        LocalPlace.list_below(folder)
    }

    fn open(&self, path: &Path) -> Result<Box<dyn Source>> {
        Ok(self.0.opened(LocalPlace.open(path)?))
    }

    /// None: a reader that has a file at hand does not open it.
    fn at_hand(&self, _path: &Path) -> Option<LocalCopy> {
        None
    }

    fn local_copy(&self, path: &Path) -> Result<LocalCopy> {
        LocalPlace.local_copy(path)
    }
}
