//! Serves until it is interrupted.

use std::sync::mpsc;

use timeloom_query::{Worker, WorkerOptions};

use super::Arguments;
use crate::context::Context;
use crate::live::Interrupt;
use crate::outcome::Outcome;
use crate::verbs::query::answer::{explained, source};
use crate::verbs::query::cluster::secret;

pub(super) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let interrupt = Interrupt::new()?;
    let options = WorkerOptions {
        listen: arguments.listen,
        secret: secret(arguments.secret_file.as_deref())?,
        memory: usize::try_from(arguments.memory).ok(),
        threads: arguments.threads.map(usize::from),
        ..WorkerOptions::default()
    };
    let who = match options.secret {
        Some(_) => "queries that have the secret",
        None => "queries of this machine, without a secret",
    };
    let worker = Worker::start(source(context), options).map_err(explained)?;
    let (woken, wait) = mpsc::channel();
    interrupt.wakes(move || {
        // Nothing waits any more after the first time.
        let _sent = woken.send(());
    });
    let text = format!("worker on {}, for {who}", worker.address());
    context.printer.text(&format!("{text}\n"))?;
    context.printer.flush()?;
    if !interrupt.happened() {
        let _woken = wait.recv();
    }
    Ok(Outcome::Done)
}
