//! A load without transport: from the producers to the recorder within this process.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use timeloom_bag::{BagOptions, StorageId, StorageOptions};
use timeloom_node::recorder::{BuiltinTypes, Options, Recorder, Selection};
use timeloom_time::{Clock, Duration, TimeBase, WaitOptions};
use timeloom_wire::NodeName;
use timeloom_wire::loopback::LoopbackNetwork;

use super::ledger::Ledger;
use super::producers::{self, Producer};
use super::profile::Profile;
use crate::context::Context;
use crate::live::Interrupt;
use crate::verbs::convert::writer_settings::size;
use crate::verbs::record::summary;

/// How often the number of subscriptions is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// How the recorder in this process writes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Without transport")]
pub(crate) struct DirectArguments {
    /// Hand the messages to a recorder in this process, which writes a bag here; the network is not touched
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) without_transport: Option<PathBuf>,
    /// mcap or sqlite3
    #[arg(
        short,
        long,
        value_name = "STORAGE",
        default_value = "mcap",
        requires = "without_transport"
    )]
    storage: String,
    /// What may wait between the producers and the disk: bytes, or 500MB, 1GiB …
    #[arg(long, value_name = "SIZE", default_value = "100MiB", value_parser = size, requires = "without_transport")]
    max_cache_size: u64,
    /// Begin a new file at this size; 0 for never
    #[arg(short = 'b', long, value_name = "SIZE", default_value = "0", value_parser = size, requires = "without_transport")]
    max_bag_size: u64,
}

impl DirectArguments {
    fn options(&self, directory: &Path) -> anyhow::Result<Options> {
        let storage = StorageId::from_name(&self.storage)?;
        let max_file_size = self.max_bag_size;
        let selection = Selection {
            all_topics: true,
            ..Selection::default()
        };
        Ok(Options {
            bag: Arc::new(move || {
                let base = BagOptions::default();
                BagOptions {
                    storage: StorageOptions::preset(storage, "").unwrap_or(base.storage),
                    max_file_size,
                    ..base
                }
            }),
            max_cache_bytes: usize::try_from(self.max_cache_size)?,
            ..Options::new(directory, selection, Arc::new(BuiltinTypes))
        })
    }
}

/// Runs the load; what was published, and whether the recorder lost anything.
pub(super) fn run(
    arguments: &DirectArguments,
    directory: &Path,
    profile: &Profile,
    threads: usize,
    context: &mut Context,
) -> anyhow::Result<(Ledger, bool)> {
    let options = arguments.options(directory)?;
    let interrupt = Interrupt::new()?;
    let base = TimeBase::default();
    let clock = Clock::on(&base);
    let network = LoopbackNetwork::new(&base);
    let (sender, receiver) = (network.participant("load")?, network.participant("record")?);
    let node = sender.node(NodeName::new("/", "timeloom_bench")?)?;
    let producers = Producer::all(&*node, profile)?;
    let recording = receiver.node(NodeName::new("/", "recorder")?)?;
    let recorder = Recorder::start(receiver, recording, options)?;
    let waiting = WaitOptions::new().cancel(interrupt.token());
    while producers.iter().any(|one| one.publisher.matched() == 0) && !interrupt.happened() {
        let _woke = clock.sleep_for_with(LOOK_AGAIN, &waiting);
    }
    let (producers, ledger) = producers::run(producers, threads, &clock, interrupt.token());
    for producer in &producers {
        producer
            .publisher
            .wait_for_acknowledgements(Duration::from_secs(30))?;
    }
    let mut lost = false;
    for report in &recorder.finish()? {
        lost |= summary::print(report, context);
    }
    Ok((ledger, lost))
}
