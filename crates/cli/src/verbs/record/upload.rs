//! `--upload`: closed files go to object storage.

use std::path::Path;

use super::arguments::Arguments;
use crate::context::Context;
use crate::live::Interrupt;
#[cfg(feature = "remote")]
use crate::verbs::upload::beside;

/// The upload, if one is asked for.
#[derive(Default)]
pub(super) struct Upload {
    #[cfg(feature = "remote")]
    running: Option<beside::Upload>,
}

/// Fails before anything is recorded if the address is not usable.
#[cfg(feature = "remote")]
pub(super) fn start(arguments: &Arguments) -> anyhow::Result<Upload> {
    let running = beside::Upload::start(&arguments.upload, timeloom_time::Clock::new())?;
    Ok(Upload { running })
}

#[cfg(not(feature = "remote"))]
pub(super) fn start(arguments: &Arguments) -> anyhow::Result<Upload> {
    if arguments.upload.upload.is_some() {
        return Err(crate::verbs::upload::not_built().into());
    }
    Ok(Upload::default())
}

#[cfg(feature = "remote")]
impl Upload {
    pub(super) fn count_signals(&self, interrupt: &Interrupt) {
        if let Some(running) = &self.running {
            running.count_signals(interrupt);
        }
    }

    pub(super) fn look(&mut self, directory: &Path, context: &mut Context) {
        if let Some(running) = &mut self.running {
            running.look(directory, context);
        }
    }

    /// True when nothing is left to upload.
    pub(super) fn finish(self, context: &mut Context) -> bool {
        self.running.is_none_or(|running| running.finish(context))
    }
}

#[cfg(not(feature = "remote"))]
#[expect(clippy::unused_self, reason = "the same calls as with the feature")]
impl Upload {
    pub(super) fn count_signals(&self, _interrupt: &Interrupt) {}

    pub(super) fn look(&mut self, _directory: &Path, _context: &mut Context) {}

    pub(super) fn finish(self, _context: &mut Context) -> bool {
        true
    }
}
