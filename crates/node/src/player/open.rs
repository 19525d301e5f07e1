use std::sync::{Arc, Weak};

use timeloom_bag::storage::FileInfo;
use timeloom_bag::{BagReader, StorageReader as _};
use timeloom_time::{
    BaseThread, Clock, ControlledClock, Event, ExternalClock, JumpHandle, PlayerClock, Ros, Time,
    TimeBase, TimeHub, TimeHubOptions,
};

use super::board::Board;
use super::clock_follower::ClockFollower;
use super::clock_jumps::JumpInquiry;
use super::clock_publisher::{CLOCK_TOPIC, ClockPublisher};
use super::clock_watch::ClockWatch;
use super::external_jumps::ExternalJumps;
use super::handle::{PlayerHandle, Shared};
use super::jumps::Jumps;
use super::listeners::{Listeners, Offer};
use super::loader::{Loader, Questions};
use super::lockstep::Lockstep;
use super::mailbox::Mailbox;
use super::notice::{Notice, Reporter};
use super::options::{Options, Pace, TimeSituation};
use super::outlet::{Outlet, Outlets};
use super::playback::{Following, Playback, PlaybackState};
use super::read_ahead::ReadAhead;
use super::run::RunRange;
use super::source::BagSource;
use super::splits::Splits;
use crate::{Error, Result, RosNode};

/// A player of bags. Dropping it stops it.
///
/// Its publishers are there from the beginning, so that subscriptions can find them; messages go out from
/// [`Control::Play`](super::Control::Play) on.
pub struct Player {
    handle: PlayerHandle,
    threads: Vec<BaseThread<()>>,
    _senses: Senses,
}

/// What the two threads are made of.
struct Parts {
    playback: Playback,
    loader: Loader,
    shared: Shared,
    senses: Senses,
}

/// What the player hears of others; ended with it.
struct Senses {
    _jumps: JumpHandle,
    watch: Option<Arc<ClockWatch>>,
}

impl Player {
    /// Makes the publishers for the bags; what is not as it should be is reported.
    ///
    /// # Errors
    /// When the middleware refuses `/clock`, or the operating system has no thread to give. A topic that cannot be
    /// published is no error: the others are played.
    pub fn open(
        node: &RosNode,
        bags: BagReader,
        options: Options,
        reporter: Reporter,
    ) -> Result<Self> {
        let base = node.participant().time_base();
        let Parts {
            playback,
            loader,
            shared,
            senses,
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
            _senses: senses,
        })
    }

    /// The way to control it and to see what it does.
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
            // A panic was a bug; dropping must not make a second one of it.
            drop(thread.join());
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
        let info = reader.info().clone();
        let bag = bounds(&info);
        let start = Time::from_nanos(bag.map_or(0, |bag| bag.start));
        let (clock, follower) = make_clock(base, node, start, &options)?;
        let mailbox = Arc::new(Mailbox::default());
        let board = Arc::new(Board::new(info.topics.len(), options.start_paused));
        let read_ahead = Arc::new(ReadAhead::new(base, options.read_ahead));
        let questions = Arc::new(Questions::new(base));
        let reporter = keeping_damage(&board, reporter, &info.damage);
        let outlets = Outlets::open(&reader, node, &options, &mailbox, &reporter);
        let clock_publisher = clock_publisher(node, &clock, &options, &reporter)?;
        let splits = Splits::open(node, &reader)?;
        let jumps = Jumps::new(&read_ahead, &mailbox, &board);
        let following = follower.map(|follower| Following {
            jumps: ExternalJumps::new(options.clock_steps, &mailbox, follower.samples()),
            inquiry: JumpInquiry::default(),
            owner: None,
            unanswered: 0,
            follower: Arc::new(follower),
        });
        let senses = Senses {
            _jumps: watch_jumps(&*clock, &jumps, following.as_ref()),
            watch: clock_watch(node, &options, &reporter)?,
        };
        let ended = set_event(base);
        let lockstep = lockstep(node, &options, &mailbox, &reporter);
        let source = BagSource::new(reader, outlets.topics(), options.order, window(&options));
        let shares = (&read_ahead, &mailbox, &questions);
        let loader = Loader::new(source, shares, &reporter, outlets.latched(), start);
        let shared = Shared {
            base: base.clone(),
            steady: Clock::on(base),
            clock: Arc::clone(&clock),
            mailbox: Arc::clone(&mailbox),
            board: Arc::clone(&board),
            read_ahead: Arc::clone(&read_ahead),
            ended: ended.clone(),
            external: following.is_some(),
            clock_watch: weak(senses.watch.as_ref()),
            follower: weak(following.as_ref().map(|following| &following.follower)),
            names: outlets.names(),
            skipped: outlets.skipped.clone(),
        };
        let offers = offers(&outlets, clock_publisher.as_deref());
        let playback = Playback {
            node: node.clone(),
            listeners: Listeners::watch(node, offers, &mailbox, &reporter),
            clock_watch: senses.watch.clone(),
            following,
            state: PlaybackState::new(&options),
            options,
            bag,
            clock,
            steady: Clock::on(base),
            system: Clock::on(base),
            mailbox,
            read_ahead,
            questions,
            outlets,
            board,
            reporter,
            jumps,
            clock_publisher,
            splits,
            lockstep,
            ended,
        };
        Ok(Self {
            playback,
            loader,
            shared,
            senses,
        })
    }
}

/// The clock that the options ask for, and what feeds it.
fn make_clock(
    base: &TimeBase,
    node: &RosNode,
    start: Time<Ros>,
    options: &Options,
) -> Result<(Arc<dyn PlayerClock>, Option<ClockFollower>)> {
    match options.time {
        TimeSituation::Controlled => {
            let clock = ControlledClock::new(base, start);
            // A controlled clock takes every rate.
            let _set = clock.set_rate(options.rate);
            Ok((Arc::new(clock), None))
        }
        TimeSituation::External { extrapolate } => {
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

/// What listens to the topic that time waits for, if it does.
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

/// Who else publishes `/clock` matters to those who publish or follow it.
fn clock_watch(
    node: &RosNode,
    options: &Options,
    reporter: &Reporter,
) -> Result<Option<Arc<ClockWatch>>> {
    let concerned = options.clock.is_on() || options.time != TimeSituation::Controlled;
    let watch = concerned.then(|| ClockWatch::start(node, reporter.clone()));
    Ok(watch.transpose()?.map(Arc::new))
}

fn set_event(base: &TimeBase) -> Event {
    let event = Event::new(base);
    event.set();
    event
}

/// How many bytes the bag's reader sorts at a time: a part of what is read in advance.
fn window(options: &Options) -> u64 {
    (options.read_ahead.bytes / 4).min(32 << 20)
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

/// Damage is told, and kept for the status; what was `found` when the bag was opened is so at once.
fn keeping_damage(board: &Arc<Board>, reporter: Reporter, found: &[String]) -> Reporter {
    let board = Arc::clone(board);
    let keeping = Reporter::new(move |notice| {
        if let Notice::Damage(text) | Notice::Unreadable(text) = notice {
            board.details().damage.push(text.clone());
        }
        reporter.report(notice.clone());
    });
    for damage in found {
        keeping.report(Notice::Damage(damage.clone()));
    }
    keeping
}

/// Follows the jumps of the player's own clock, or notes those of an external one.
fn watch_jumps(
    clock: &dyn PlayerClock,
    jumps: &Arc<Jumps>,
    following: Option<&Following>,
) -> JumpHandle {
    match following {
        Some(following) => following.jumps.watch(clock),
        None => jumps.follow(clock),
    }
}

/// What is sent to whom: the topics and services, and `/clock`.
fn offers(outlets: &Outlets, clock: Option<&ClockPublisher>) -> Vec<Offer> {
    let clock = clock.map(ClockPublisher::offer);
    outlets.iter().map(Outlet::offer).chain(clock).collect()
}

/// Whoever follows a `/clock` publishes none.
fn clock_publisher(
    node: &RosNode,
    clock: &Arc<dyn PlayerClock>,
    options: &Options,
    reporter: &Reporter,
) -> Result<Option<Arc<ClockPublisher>>> {
    if !options.clock.is_on() || options.time != TimeSituation::Controlled {
        return Ok(None);
    }
    let qos = options.qos_overrides.get(CLOCK_TOPIC).copied();
    let publisher = ClockPublisher::new(node, clock, qos, options.clock.period, reporter)?;
    Ok(Some(Arc::new(publisher)))
}
