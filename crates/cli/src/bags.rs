//! The one door to bags: from an argument to an open bag, wherever that is.

#[cfg(feature = "remote")]
mod fetch_line;

use std::path::Path;
use std::sync::Arc;

use timeloom_bag::place::is_address;
use timeloom_bag::{BagInfo, BagReader, Place};
use timeloom_time::{Clock, Steady};

use crate::failure::Failure;

/// Whether this binary reads more than files.
const BUILT_IN: bool = cfg!(feature = "remote");

/// Opens the bags that arguments name: paths of this machine and addresses such as `s3://bucket/bag`.
pub(crate) struct Bags {
    place: Arc<dyn Place>,
}

impl Bags {
    /// `shows_progress`: whether fetching a whole file is shown on a line of its own.
    #[cfg(feature = "remote")]
    pub(crate) fn new(shows_progress: bool, clock: Clock<Steady>) -> Self {
        let line = fetch_line::FetchLine::new(shows_progress, clock);
        let options = timeloom_remote::RemoteOptions {
            on_fetch: Some(Arc::new(move |fetch| line.show(fetch))),
            ..timeloom_remote::RemoteOptions::default()
        };
        Self {
            place: Arc::new(timeloom_remote::RemotePlace::new(options)),
        }
    }

    /// Without the feature `remote`, there are only files.
    #[cfg(not(feature = "remote"))]
    pub(crate) fn new(_shows_progress: bool, _clock: Clock<Steady>) -> Self {
        Self {
            place: Arc::new(timeloom_bag::LocalPlace),
        }
    }

    /// Opens several bags as one.
    pub(crate) fn open_all<P: AsRef<Path>>(&self, paths: &[P]) -> anyhow::Result<BagReader> {
        Ok(BagReader::open_in(self.place_of(paths)?, paths)?)
    }

    /// Where these bags are, for those who open them by themselves.
    pub(crate) fn place_of<P: AsRef<Path>>(&self, paths: &[P]) -> anyhow::Result<Arc<dyn Place>> {
        for path in paths {
            check_built_in(path.as_ref(), BUILT_IN)?;
        }
        Ok(Arc::clone(&self.place))
    }

    /// Where all bags are, for a process that learns later which ones it opens.
    #[cfg(feature = "cluster")]
    pub(crate) fn place(&self) -> Arc<dyn Place> {
        Arc::clone(&self.place)
    }

    /// Opens one bag.
    pub(crate) fn open(&self, path: &Path) -> anyhow::Result<BagReader> {
        self.open_all(&[path])
    }

    /// The contents of a bag.
    pub(crate) fn info(&self, path: &Path) -> anyhow::Result<BagInfo> {
        check_built_in(path, BUILT_IN)?;
        Ok(BagInfo::open_in(Arc::clone(&self.place), path)?)
    }
}

fn check_built_in(path: &Path, built_in: bool) -> Result<(), Failure> {
    if built_in || !is_address(path) {
        return Ok(());
    }
    let text = format!("{}: this binary reads files only", path.display());
    Err(Failure::new(text).hint(
        "released binaries read addresses; build this one with `cargo install --locked --path crates/cli --features remote`",
    ))
}

/// Refuses an address where something is to be written.
pub(crate) fn check_writable(path: &Path) -> Result<(), Failure> {
    if !is_address(path) {
        return Ok(());
    }
    let text = format!("{}: bags are only written to this machine", path.display());
    Err(Failure::usage(text)
        .hint("write a directory here, then send it there with `timeloom upload`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binary_without_the_feature_names_the_feature() {
        let address = Path::new("s3://robots/run_7");
        let failure = check_built_in(address, false).unwrap_err();
        assert_eq!(
            failure.to_string(),
            "s3://robots/run_7: this binary reads files only"
        );
        assert!(failure.hint_text().unwrap().contains("--features remote"));
        assert!(check_built_in(address, true).is_ok());
        assert!(check_built_in(Path::new("run_7"), false).is_ok());
    }
}
