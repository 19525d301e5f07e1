//! The progress line while a whole file is fetched.

use std::io::{self, Write as _};
use std::sync::Mutex;

use timeloom_remote::{Fetch, FetchReason};
use timeloom_text::size;
use timeloom_time::sync::lock;
use timeloom_time::{Clock, Steady};

use crate::progress::Progress;

/// A note when it begins, and a progress line.
pub(super) struct FetchLine {
    shows_progress: bool,
    clock: Clock<Steady>,
    progress: Mutex<Option<Progress>>,
}

impl FetchLine {
    pub(super) fn new(shows_progress: bool, clock: Clock<Steady>) -> Self {
        Self {
            shows_progress,
            clock,
            progress: Mutex::default(),
        }
    }

    pub(super) fn show(&self, fetch: &Fetch<'_>) {
        let mut progress = lock(&self.progress);
        if fetch.done == 0 {
            // The work continues without a terminal.
            let _written = io::stderr().write_all(note(fetch).as_bytes());
            *progress = Some(Progress::new(
                "fetching",
                self.shows_progress,
                self.clock.clone(),
            ));
        }
        if let Some(line) = progress.as_mut() {
            line.update_bytes(fetch.done, fetch.size);
        }
        if fetch.done >= fetch.size {
            *progress = None;
        }
    }
}

fn note(fetch: &Fetch<'_>) -> String {
    let why = match fetch.reason {
        FetchReason::NotReadableInParts => "cannot be read in parts",
        FetchReason::NoRanges => "comes from a server that gives no parts",
    };
    format!(
        "{} {why}: fetching {} to {}\n",
        fetch.uri,
        size(fetch.size),
        fetch.directory.display()
    )
}
