//! Uploads what recorders close, until it is stopped.

use std::collections::BTreeMap;
use std::path::PathBuf;

use timeloom_remote::{AfterUpload, UploadOptions, UploadReport, UploadTarget, UploadWorker};
use timeloom_time::{Clock, Duration, Steady, WaitOptions};

use super::once::bag_error;
use super::sources::bags_of;
use super::{Arguments, outcome, warn_uncatalogued};
use crate::context::Context;
use crate::live::Interrupt;
use crate::outcome::Outcome;
use crate::verbs::info::Format;

/// How often new bags are looked for.
const LOOK: Duration = Duration::from_secs(1);

pub(super) fn run(
    arguments: &Arguments,
    target: UploadTarget,
    options: UploadOptions,
    after: Option<AfterUpload>,
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    let interrupt = Interrupt::new()?;
    let clock = Clock::<Steady>::new();
    let mut news = News::new(target.uri());
    let worker = UploadWorker::start(target, options, clock.clone(), after).map_err(bag_error)?;
    // Directories of bags may get more of them: only bags alone come to an end.
    let mut can_end = true;
    for path in &arguments.bags {
        can_end &= bags_of(path)?.iter().any(|bag| bag == path);
    }
    loop {
        for path in &arguments.bags {
            // One that is deleted after its upload has no bags.
            for bag in bags_of(path).unwrap_or_default() {
                worker.add(&bag).map_err(bag_error)?;
            }
        }
        let report = worker.report();
        news.print(&report, context);
        let all = report.incomplete.is_empty() && !report.complete.is_empty();
        if interrupt.happened() || (can_end && all) {
            break;
        }
        let options = WaitOptions::new().cancel(interrupt.token());
        // Woken by Ctrl-C or by the time: both are looked at above.
        let _woke = clock.sleep_for_with(LOOK, &options);
    }
    let report = worker.report();
    drop(worker);
    end(arguments, &report, context)
}

fn end(
    arguments: &Arguments,
    report: &UploadReport,
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    for (path, status, error) in &report.incomplete {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let uri = format!("{}/{name}", arguments.to.trim_end_matches('/'));
        let path = path.display().to_string();
        if arguments.format == Format::Json {
            let line = outcome::json(&path, &uri, status, error.as_ref());
            writeln!(context.printer.data(), "{line}")?;
        }
        context.printer.note(&outcome::line(&path, &uri, status));
    }
    Ok(if report.incomplete.is_empty() {
        Outcome::Done
    } else {
        Outcome::ProblemFound
    })
}

/// Prints what changed: bags that arrived, errors that are new.
pub(super) struct News {
    target: String,
    complete: usize,
    uncatalogued: usize,
    errors: BTreeMap<PathBuf, String>,
}

impl News {
    pub(super) fn new(target: &str) -> Self {
        Self {
            target: target.to_owned(),
            complete: 0,
            uncatalogued: 0,
            errors: BTreeMap::new(),
        }
    }

    pub(super) fn print(&mut self, report: &UploadReport, context: &mut Context) {
        for uri in report.complete.iter().skip(self.complete) {
            context.printer.note(&format!("uploaded {uri}"));
        }
        self.complete = report.complete.len();
        for (uri, reason) in report.failed_after.iter().skip(self.uncatalogued) {
            warn_uncatalogued(uri, reason, &self.target, context);
        }
        self.uncatalogued = report.failed_after.len();
        for (path, status, error) in &report.incomplete {
            let text = error.as_ref().map(ToString::to_string).unwrap_or_default();
            let known = self.errors.get(path).map_or("", String::as_str);
            if !text.is_empty() && text != known {
                let waiting = timeloom_text::counted(status.waiting_files, "file");
                let text = format!("upload: {text}; {waiting} to go, tried again");
                context.printer.warning(&text);
            }
            self.errors.insert(path.clone(), text);
        }
    }
}
