//! A participant in the domain of the environment, and cancellation.

use std::sync::Arc;

use clap::Args;
use timeloom_time::{CancelToken, Clock, Duration, Steady, WaitOptions};
use timeloom_transport::{JoinOptions, join};
use timeloom_wire::environment::Environment;
use timeloom_wire::{Node, NodeName, Participant};

/// Selects the network.
#[derive(Debug, Args)]
#[command(next_help_heading = "Network")]
pub(crate) struct NetworkArguments {
    /// Use 127.0.0.1 only; overrides the environment
    #[arg(long)]
    pub(crate) localhost: bool,
}

/// A node in the domain.
pub(crate) struct Network {
    pub(crate) participant: Arc<dyn Participant>,
    pub(crate) node: Arc<dyn Node>,
    pub(crate) clock: Clock<Steady>,
    pub(crate) stop: CancelToken,
}

impl Network {
    pub(crate) fn join(arguments: &NetworkArguments) -> anyhow::Result<Self> {
        let environment = Environment::read(&|name| std::env::var(name).ok())?;
        let options = JoinOptions {
            localhost: arguments.localhost,
            ..JoinOptions::default()
        };
        let participant = join(&environment, &options)?.participant;
        let node = participant.node(NodeName::new("/", "timeloom_bench")?)?;
        let clock = Clock::on(&participant.time_base());
        Ok(Self {
            participant,
            node,
            clock,
            stop: stop_signal()?,
        })
    }
}

/// Cancelled on Ctrl-C and SIGTERM; may be called once per process.
pub(crate) fn stop_signal() -> anyhow::Result<CancelToken> {
    let token = CancelToken::new();
    let inside = token.clone();
    ctrlc::set_handler(move || inside.cancel())?;
    Ok(token)
}

/// Blocks until the condition holds; false when cancelled.
pub(crate) fn wait_until(
    clock: &Clock<Steady>,
    stop: &CancelToken,
    mut condition: impl FnMut() -> bool,
) -> bool {
    let options = WaitOptions::new().cancel(stop);
    while !condition() {
        if stop.is_cancelled() {
            return false;
        }
        let _woke = clock.sleep_for_with(Duration::from_millis(20), &options);
    }
    true
}
