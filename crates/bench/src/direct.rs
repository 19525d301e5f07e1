//! A load without transport: from the producers to the recorder in this process.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use timeloom_bag::{BagOptions, StorageId, StorageOptions};
use timeloom_node::recorder::{BuiltinTypes, Options, Recorder, Selection};
use timeloom_time::{Clock, Duration, TimeBase};
use timeloom_wire::NodeName;
use timeloom_wire::loopback::LoopbackNetwork;

use crate::ledger::Ledger;
use crate::network::{stop_signal, wait_until};
use crate::output::note;
use crate::producers::{self, Producer};
use crate::profile::Profile;

/// Options of the recorder in this process.
#[derive(Debug, Args)]
#[command(next_help_heading = "Without transport")]
pub(crate) struct DirectArguments {
    /// Record in this process, without a network, to a bag in this directory
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
    /// Size of the recorder's queue
    #[arg(long, value_name = "BYTES", default_value_t = 100 << 20, requires = "without_transport")]
    max_cache_size: u64,
    /// Begin a new file at this size; 0 for never
    #[arg(
        short = 'b',
        long,
        value_name = "BYTES",
        default_value_t = 0,
        requires = "without_transport"
    )]
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

/// Runs the load; returns the ledger, and whether the recorder lost messages.
pub(crate) fn run(
    arguments: &DirectArguments,
    directory: &Path,
    profile: &Profile,
    threads: usize,
) -> anyhow::Result<(Ledger, bool)> {
    let options = arguments.options(directory)?;
    let stop = stop_signal()?;
    let base = TimeBase::default();
    let clock = Clock::on(&base);
    let network = LoopbackNetwork::new(&base);
    let (sender, receiver) = (network.participant("load")?, network.participant("record")?);
    let node = sender.node(NodeName::new("/", "timeloom_bench")?)?;
    let producers = Producer::all(&*node, profile)?;
    let recording = receiver.node(NodeName::new("/", "recorder")?)?;
    let recorder = Recorder::start(receiver, recording, options)?;
    let matched = || producers.iter().all(|one| one.publisher.matched() > 0);
    wait_until(&clock, &stop, matched);
    let (producers, ledger) = producers::run(producers, threads, &clock, &stop);
    for producer in &producers {
        producer
            .publisher
            .wait_for_acknowledgements(Duration::from_secs(30))?;
    }
    let mut lost = false;
    for report in &recorder.finish()? {
        let total = report.total();
        note(&format!(
            "recorded {} messages ({} bytes), lost {} in the recorder: {}",
            total.messages_recorded,
            total.bytes_written,
            total.messages_lost_in_recorder(),
            report.directory.display()
        ));
        if let Some(error) = &report.error {
            note(&format!("warning: {error}"));
        }
        lost |= total.messages_lost() > 0 || report.error.is_some();
    }
    Ok((ledger, lost))
}
