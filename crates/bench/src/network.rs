//! A participant in the domain of the environment, and cancellation.

use std::sync::Arc;

use clap::Args;
use timeloom_dds::{DdsParticipant, Options};
use timeloom_time::{CancelToken, Clock, Duration, Steady, WaitOptions};
use timeloom_wire::environment::{Backend, Environment};
use timeloom_wire::{Node, NodeName, Participant};
use timeloom_zenoh::ZenohParticipant;

/// The default address of the router of `rmw_zenoh`, on the loopback interface.
const LOCAL_ROUTER: &str = "tcp/127.0.0.1:7447";

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
        let participant: Arc<dyn Participant> = match environment.backend {
            Backend::Dds => Arc::new(DdsParticipant::new(&if arguments.localhost {
                Options::loopback(environment.domain)
            } else {
                Options::from(&environment)
            })?),
            Backend::Zenoh => {
                let options = timeloom_zenoh::Options::from_environment(&environment);
                Arc::new(ZenohParticipant::new(&if arguments.localhost {
                    options.only_at(LOCAL_ROUTER)
                } else {
                    options
                })?)
            }
        };
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
