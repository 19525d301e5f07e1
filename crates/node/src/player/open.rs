use std::sync::{Arc, Weak};

use timeloom_bag::storage::FileInfo;
use timeloom_bag::{BagReader, StorageReader as _};
use timeloom_time::{
    BaseThread, Clock, ControlledClock, Event, ExternalClock, JumpHandle, PlayerClock, Ros, Time,
    TimeBase, TimeHub, TimeHubOptions,
};

use super::clock_follower::ClockFollower;
use super::clock_output::ClockOutput;
use super::clock_publisher::CLOCK_TOPIC;
use super::clock_watch::ClockWatch;
use super::handle::{PlayerHandle, Shared};
use super::jump_restart::JumpRestart;
use super::listeners::{Listeners, Offer};
use super::live_status::LiveStatus;
use super::loader::{Loader, LoaderQueries};
use super::lockstep::Lockstep;
use super::mailbox::Mailbox;
use super::notice::{Notice, Reporter};
use super::options::{ClockMode, Options, Pace};
use super::output::{Output, Outputs};
use super::playback::{Following, MessageFeed, Pacing, Playback, PlaybackState};
use super::read_ahead::ReadAhead;
use super::run::RunRange;
use super::source::BagSource;
use super::split_events::SplitEvents;
use crate::{Error, Result, RosNode};

/// A player of bags. Dropping it stops it.
///
/// Its publishers exist from the beginning, so that subscriptions can discover them; messages are published from
/// [`Control::Play`](super::Control::Play) on.
///
/// ```no_run
/// use timeloom_bag::BagReader;
/// use timeloom_node::player::{Control, Options, PlayRange, Player, Reporter};
/// use timeloom_node::{NodeOptions, RosNode};
/// use timeloom_time::{Duration, TimeBase};
/// use timeloom_wire::loopback::LoopbackNetwork;
///
/// let network = LoopbackNetwork::new(&TimeBase::machine());
/// let node = RosNode::new(network.participant("player")?, NodeOptions::new("player"))?;
/// let bag = BagReader::open_all(&["my_bag"])?;
/// let reporter = Reporter::new(|notice| eprintln!("{notice}"));
/// let player = Player::open(&node, bag, Options::default(), reporter)?;
/// player.control(Control::Play(PlayRange::default()))?;
/// player.control(Control::SeekBy(Duration::from_secs(10)))?;
/// player.wait();
/// println!("{} messages", player.status().played());
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub struct Player {
    handle: PlayerHandle,
    threads: Vec<BaseThread<()>>,
    _watches: Watches,
}

/// The parts of a player.
struct Parts {
    playback: Playback,
    loader: Loader,
    shared: Shared,
    watches: Watches,
}

/// Watches of the clock and of the graph; they end with the player.
struct Watches {
    _jumps: JumpHandle,
    clock: Option<Arc<ClockWatch>>,
}

impl Player {
    /// Creates the publishers for the bags; problems are reported as notices.
    ///
    /// # Errors
    /// When the middleware refuses `/clock`, or a thread cannot be started. A topic that cannot be published is not an
    /// error: the others are played.
    pub fn open(
        node: &RosNode,
        bags: BagReader,
        options: Options,
        reporter: Reporter,
    ) -> Result<Self> {
        let base = node.participant().time_base();
        tracing::info!(messages = bags.info().message_count(), "playing");
        let Parts {
            playback,
            loader,
            shared,
            watches,
        } = Parts::new(&base, node, bags, options, reporter)?;
        let spawned = base
            .spawn("bag loader", move || loader.run())
            .and_then(|loader| {
                let playback = base.spawn("bag player", move || playback.run());
                if playback.is_err() {
                    shared.read_ahead.close();
                }
                Ok((vec![loader, playback?], shared))
            });
        let (threads, shared) = spawned.map_err(Error::Thread)?;
        Ok(Self {
            handle: PlayerHandle(Arc::new(shared)),
            threads,
            _watches: watches,
        })
    }

    /// The handle for control and status.
    pub fn handle(&self) -> &PlayerHandle {
        &self.handle
    }
}

impl std::ops::Deref for Player {
    type Target = PlayerHandle;

    fn deref(&self) -> &PlayerHandle {
        &self.handle
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        self.handle.0.mailbox.quit();
        self.handle.0.read_ahead.close();
        for thread in self.threads.drain(..) {
            // A panic was a bug; dropping must not cause a second one.
            drop(thread.join());
        }
    }
}

/// The parts that the threads and the handles share.
struct SharedParts {
    base: TimeBase,
    clock: Arc<dyn PlayerClock>,
    mailbox: Arc<Mailbox>,
    live: Arc<LiveStatus>,
    read_ahead: Arc<ReadAhead>,
    queries: Arc<LoaderQueries>,
    ended: Event,
    reporter: Reporter,
}

impl SharedParts {
    fn new(
        base: &TimeBase,
        clock: Arc<dyn PlayerClock>,
        info: &FileInfo,
        options: &Options,
        reporter: Reporter,
    ) -> Self {
        let live = Arc::new(LiveStatus::new(info.topics.len(), options.start_paused));
        Self {
            base: base.clone(),
            clock,
            mailbox: Arc::default(),
            reporter: keeping_damage(&live, reporter, &info.damage),
            live,
            read_ahead: Arc::new(read_ahead(base, options)),
            queries: Arc::new(LoaderQueries::new(base)),
            ended: set_event(base),
        }
    }

    fn loader(&self, reader: BagReader, outputs: &Outputs, options: &Options) -> Loader {
        let start = Time::from_nanos(bounds(reader.info()).map_or(0, |bag| bag.start));
        let source = BagSource::new(reader, outputs.topics(), options.order, window(options));
        let shares = (&self.read_ahead, &self.mailbox, &self.queries);
        Loader::new(source, shares, &self.reporter, outputs.latched(), start)
    }

    fn handle(
        &self,
        outputs: &Outputs,
        following: Option<&Following>,
        watch: Option<&Arc<ClockWatch>>,
    ) -> Shared {
        Shared {
            base: self.base.clone(),
            steady: Clock::on(&self.base),
            clock: Arc::clone(&self.clock),
            mailbox: Arc::clone(&self.mailbox),
            live: Arc::clone(&self.live),
            read_ahead: Arc::clone(&self.read_ahead),
            ended: self.ended.clone(),
            external: following.is_some(),
            clock_watch: weak(watch),
            follower: weak(following.map(Following::follower)),
            names: outputs.names(),
            skipped: outputs.skipped.clone(),
        }
    }
}

impl Parts {
    fn new(
        base: &TimeBase,
        node: &RosNode,
        reader: BagReader,
        options: Options,
        reporter: Reporter,
    ) -> Result<Self> {
        let bag = bounds(reader.info());
        let start = Time::from_nanos(bag.map_or(0, |bag| bag.start));
        let (clock, follower) = make_clock(base, node, start, &options)?;
        let parts = SharedParts::new(base, clock, reader.info(), &options, reporter);
        let (mailbox, reporter) = (&parts.mailbox, &parts.reporter);
        let following =
            follower.map(|follower| Following::new(options.clock_steps, mailbox, follower));
        let outputs = Outputs::open(&reader, node, &options, mailbox, reporter);
        let clock_output = clock_output(node, &parts, &options)?;
        let splits = SplitEvents::open(node, &reader)?;
        let restart = JumpRestart::new(&parts.read_ahead, mailbox, &parts.live);
        let watches = Watches {
            _jumps: watch_jumps(&*parts.clock, &restart, following.as_ref()),
            clock: clock_watch(node, &options, reporter)?,
        };
        let lockstep = lockstep(node, &options, mailbox, reporter);
        let loader = parts.loader(reader, &outputs, &options);
        let shared = parts.handle(&outputs, following.as_ref(), watches.clock.as_ref());
        let offers = offers(&outputs, &clock_output);
        let playback = Playback {
            node: node.clone(),
            listeners: Listeners::watch(node, offers, mailbox, reporter),
            clock_watch: watches.clock.clone(),
            following,
            state: PlaybackState::new(&options),
            pacing: Pacing::new(options.pace.clone(), lockstep),
            options,
            bag,
            steady: Clock::on(base),
            system: Clock::on(base),
            feed: MessageFeed::new(&parts.read_ahead, &parts.queries),
            clock: parts.clock,
            mailbox: parts.mailbox,
            outputs,
            live: parts.live,
            reporter: parts.reporter,
            restart,
            clock_output,
            splits,
            ended: parts.ended,
        };
        Ok(Self {
            playback,
            loader,
            shared,
            watches,
        })
    }
}

/// The clock of the options, and the subscription that feeds an external one.
fn make_clock(
    base: &TimeBase,
    node: &RosNode,
    start: Time<Ros>,
    options: &Options,
) -> Result<(Arc<dyn PlayerClock>, Option<ClockFollower>)> {
    match options.time {
        ClockMode::Controlled => {
            let clock = ControlledClock::new(base, start);
            // A controlled clock accepts every rate.
            let _set = clock.set_rate(options.rate);
            Ok((Arc::new(clock), None))
        }
        ClockMode::External { extrapolate } => {
            let hub = TimeHub::with_options(
                base,
                TimeHubOptions {
                    extrapolate,
                    ..TimeHubOptions::default()
                },
            );
            let clock = ExternalClock::new(&hub);
            let follower = ClockFollower::start(node, &hub)?;
            Ok((Arc::new(clock), Some(follower)))
        }
    }
}

/// The subscription of the topic that time waits for, if it does.
fn lockstep(
    node: &RosNode,
    options: &Options,
    mailbox: &Arc<Mailbox>,
    reporter: &Reporter,
) -> Option<Lockstep> {
    match &options.pace {
        Pace::Lockstep { topic, .. } => Some(Lockstep::start(node, topic, mailbox, reporter)),
        _ => None,
    }
}

/// A player that publishes or follows `/clock` watches its publishers.
fn clock_watch(
    node: &RosNode,
    options: &Options,
    reporter: &Reporter,
) -> Result<Option<Arc<ClockWatch>>> {
    let concerned = options.clock.is_on() || options.time != ClockMode::Controlled;
    let watch = concerned.then(|| ClockWatch::start(node, reporter.clone()));
    Ok(watch.transpose()?.map(Arc::new))
}

fn set_event(base: &TimeBase) -> Event {
    let event = Event::new(base);
    event.set();
    event
}

/// Number of bytes that the bag's reader sorts at a time: a part of the read-ahead.
fn window(options: &Options) -> u64 {
    (options.read_ahead.bytes / 4).min(32 << 20)
}

fn read_ahead(base: &TimeBase, options: &Options) -> ReadAhead {
    let mut limits = options.read_ahead;
    if options.time != ClockMode::Controlled {
        limits.time = None;
    }
    ReadAhead::new(base, limits, options.rate.get())
}

fn weak<T>(part: Option<&Arc<T>>) -> Weak<T> {
    part.map(Arc::downgrade).unwrap_or_default()
}

fn bounds(info: &FileInfo) -> Option<RunRange> {
    Some(RunRange {
        start: info.start_time_ns?,
        end: info.end_time_ns?,
    })
}

/// Keeps reports of damage for the status; those of opening the bag, `found`, are reported at once.
fn keeping_damage(live: &Arc<LiveStatus>, reporter: Reporter, found: &[String]) -> Reporter {
    let live = Arc::clone(live);
    let keeping = Reporter::new(move |notice| {
        if let Notice::Damage(text) | Notice::Unreadable(text) = notice {
            live.details().damage.push(text.clone());
        }
        reporter.report(notice.clone());
    });
    for damage in found {
        keeping.report(Notice::Damage(damage.clone()));
    }
    keeping
}

/// Watches the jumps of the player's own clock, or of an external one.
fn watch_jumps(
    clock: &dyn PlayerClock,
    restart: &Arc<JumpRestart>,
    following: Option<&Following>,
) -> JumpHandle {
    match following {
        Some(following) => following.watch(clock),
        None => restart.watch(clock),
    }
}

/// The topics and services of the player, and `/clock`.
fn offers(outputs: &Outputs, clock: &ClockOutput) -> Vec<Offer> {
    let clock = clock.publisher().map(|publisher| publisher.offer());
    outputs.iter().map(Output::offer).chain(clock).collect()
}

/// A player that follows `/clock` publishes none.
fn clock_output(node: &RosNode, parts: &SharedParts, options: &Options) -> Result<ClockOutput> {
    let qos = options.qos_overrides.get(CLOCK_TOPIC).copied();
    let mut output = ClockOutput::new(node, &parts.clock, qos, &parts.reporter);
    if options.clock.is_on() && options.time == ClockMode::Controlled {
        output.open(options.clock.period)?;
    }
    Ok(output)
}
