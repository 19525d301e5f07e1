//! Uploads what is closed now.

use std::path::Path;

use timeloom_remote::{
    AfterUpload, BagUpload, Error, UploadControl, UploadOptions, UploadStatus, UploadTarget,
};
use timeloom_time::Clock;

use super::sources::bags_of;
use super::{Arguments, outcome, warn_uncatalogued};
use crate::context::Context;
use crate::failure::Failure;
use crate::live::Interrupt;
use crate::outcome::Outcome;
use crate::verbs::info::Format;

pub(super) fn run(
    arguments: &Arguments,
    target: &UploadTarget,
    options: &UploadOptions,
    after: Option<&AfterUpload>,
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    let mut bags = Vec::new();
    for path in &arguments.bags {
        let found = bags_of(path)?;
        if found.is_empty() {
            let text = format!("{}: no bag, and no bags in it", path.display());
            let hint = "name bags, or a directory of bags; --follow waits for them";
            return Err(Failure::new(text).hint(hint).into());
        }
        bags.extend(found);
    }
    let interrupt = Interrupt::new()?;
    let control = UploadControl {
        clock: Clock::new(),
        stop: interrupt.token().clone(),
    };
    let mut incomplete = false;
    for bag in &bags {
        let mut upload = BagUpload::open(bag, target, options.clone()).map_err(bag_error)?;
        let sent = if arguments.status {
            upload.status()
        } else {
            send(&mut upload, &control, context)
        };
        let (status, error) = match sent {
            Ok(status) => (status, None),
            Err(error) => (upload.status().unwrap_or_default(), Some(error)),
        };
        incomplete |= !status.is_complete;
        let after = after.filter(|_| status.is_complete && !arguments.status);
        let catalogued = after.map_or(Ok(()), |after| after(&upload.uri()));
        print(
            arguments,
            bag,
            &upload.uri(),
            &status,
            error.as_ref(),
            context,
        )?;
        if let Err(reason) = catalogued {
            warn_uncatalogued(&upload.uri(), &reason, target.uri(), context);
        }
        match error {
            Some(Error::Stopped) => {
                return Err(stopped().into());
            }
            // The others would fail in the same way.
            Some(
                error @ (Error::Denied { .. }
                | Error::NoCredentials { .. }
                | Error::NoCertificates { .. }
                | Error::Unreachable { .. }),
            ) => {
                return Err(bag_error(error).into());
            }
            Some(error) => context.printer.error(&bag_error(error).into()),
            None => {}
        }
    }
    Ok(if incomplete {
        Outcome::ProblemFound
    } else {
        Outcome::Done
    })
}

fn stopped() -> Failure {
    Failure::new("the upload was stopped").hint("run the same command again: it goes on from there")
}

fn send(
    upload: &mut BagUpload,
    control: &UploadControl,
    context: &Context,
) -> Result<UploadStatus, Error> {
    let mut progress = context.progress("uploading");
    upload.advance(control, &mut |status| {
        let done = status.arrived_bytes;
        progress.update_bytes(done, done + status.waiting_bytes);
    })
}

fn print(
    arguments: &Arguments,
    bag: &Path,
    uri: &str,
    status: &UploadStatus,
    error: Option<&Error>,
    context: &mut Context,
) -> anyhow::Result<()> {
    let path = bag.display().to_string();
    if arguments.format == Format::Json {
        let line = outcome::json(&path, uri, status, error);
        writeln!(context.printer.data(), "{line}")?;
        return Ok(());
    }
    context.printer.note(&outcome::line(&path, uri, status));
    if !status.is_finished && !arguments.status && error.is_none() {
        context.printer.hint(
            "--follow uploads the rest when it is closed; if the recorder was killed, run `timeloom recover` first",
        );
    }
    Ok(())
}

/// With the hints of the bag's own errors.
pub(super) fn bag_error(error: Error) -> timeloom_bag::Error {
    error.into()
}
