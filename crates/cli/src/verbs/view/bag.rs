//! A bag in the browser.

use std::path::Path;
use std::sync::Arc;

use timeloom_bag::{BagReader, StorageReader as _};
use timeloom_contract::{Contract, Report, check_bag};
use timeloom_node::player::{Control, PlayRange, Player, PlayerHandle, Services, Status};
use timeloom_node::{NodeOptions, RosNode};
use timeloom_text::counted;
use timeloom_time::{Duration, TimeBase};
use timeloom_view::{BagContents, BagMark, BagMarks, PlayerTap, PlayerView, Server, Source};
use timeloom_wire::Participant;
use timeloom_wire::loopback::LoopbackNetwork;

use super::Arguments;
use super::wait::wait;
use crate::context::Context;
use crate::damage;
use crate::decode::{decoder, resolver};
use crate::live::{Interrupt, Live, Notices};
use crate::outcome::Outcome;
use crate::topic_selection::CheckSelection as _;
use crate::verbs::check::read_contract;

/// Timeout for a player to end after Ctrl-C; one that is stuck in the middleware is abandoned.
const PATIENCE: Duration = Duration::from_secs(3);

/// Where a bag is played: in the graph, or in this process alone.
struct Participants {
    player: Arc<dyn Participant>,
    /// The client of the player's services.
    viewer: Arc<dyn Participant>,
    interrupt: Interrupt,
    _live: Option<Live>,
}

impl Participants {
    fn find(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Self> {
        if arguments.playback.publish {
            let live = Live::join_beside(&arguments.network, context)?;
            return Ok(Self {
                player: Arc::clone(live.participant()),
                viewer: Arc::clone(live.participant()),
                interrupt: live.interrupt().clone(),
                _live: Some(live),
            });
        }
        let network = LoopbackNetwork::new(&TimeBase::machine());
        Ok(Self {
            player: network.participant("player")?,
            viewer: network.participant("viewer")?,
            interrupt: Interrupt::new()?,
            _live: None,
        })
    }
}

pub(super) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let contract = arguments.contract.as_deref();
    let contract = contract.map(read_contract).transpose()?;
    let reader = context.bags.open_all(&arguments.bags)?;
    let info = reader.info().clone();
    let selection = arguments.selection.selection();
    selection.check_names(&info.topics)?;
    selection.check_not_empty(&info.topics)?;
    let options = arguments.playback.options(selection, &info)?;
    let title = title(&arguments.bags);
    let decoder = decoder(&info);
    let contents = BagContents::new(title.as_str(), &reader, |topic| {
        let schema = decoder.schema(topic);
        schema.cloned().map_err(|error| error.to_string())
    });
    let place = Participants::find(arguments, context)?;
    let tap = PlayerTap::default();
    let named = context.node(NodeOptions::new("rosbag2_player"))?;
    let node = RosNode::new(tap.participant(Arc::clone(&place.player)), named)?;
    let notices = Notices::default();
    let player = Player::open(&node, reader, options, notices.reporter())?;
    let handle = player.handle().clone();
    let distro = info.ros_distro.parse().unwrap_or_default();
    let _services = Services::start(&node, handle.clone(), distro)?;
    let view = PlayerView::new(handle.clone(), contents, tap, Arc::clone(&place.viewer));
    view.count_messages(context.bags.open_all(&arguments.bags)?)?;
    view.find_links(context.bags.open_all(&arguments.bags)?, resolver())?;
    let marks = view.marks();
    let view: Arc<dyn Source> = Arc::new(view);
    let server = arguments.server.start(view, &title, context)?;
    if let Some(contract) = contract {
        mark_violations(
            contract,
            marks,
            context.bags.open_all(&arguments.bags)?,
            &notices,
        )?;
    }
    handle.control(Control::Play(PlayRange::default()))?;
    wait(&place.interrupt, arguments.duration, || {
        notices.print(context);
        arguments.playback.exit_at_end && handle.status().state.is_over()
    });
    let status = end(player, &handle);
    notices.print(context);
    let lost = summary(&status, &server, &arguments.bags, context);
    Ok(Outcome::lost_if(lost))
}

/// Checks a bag in the background, and marks its violations on the timeline.
fn mark_violations(
    contract: Contract,
    marks: BagMarks,
    mut bag: BagReader,
    notices: &Notices,
) -> anyhow::Result<()> {
    let notices = notices.clone();
    let check = move || match check_bag(&mut bag, &contract, &resolver()) {
        Ok(report) => {
            let start = bag.info().start_time_ns.unwrap_or_default();
            marks.set(violations(&report, start));
        }
        Err(error) => notices.warn(format!("cannot check the contract: {error}")),
    };
    // It ends with the process.
    std::thread::Builder::new()
        .name("view-contract".into())
        .spawn(check)?;
    Ok(())
}

fn violations(report: &Report, start: i64) -> Vec<BagMark> {
    let checks = report.checks.iter().filter(|check| !check.kept);
    let places = checks.flat_map(|check| {
        check.places.iter().map(move |place| {
            let start_ns = start.saturating_add(place.time_ns);
            let length = i64::try_from(place.length_ns).unwrap_or(i64::MAX);
            BagMark {
                start_ns,
                end_ns: start_ns.saturating_add(length),
                text: format!("{} {}: allowed {}", check.topic, check.what, check.allowed),
            }
        })
    });
    places.collect()
}

/// Ends the player, or leaves it behind.
fn end(player: Player, handle: &PlayerHandle) -> Status {
    handle.control_then(Control::Stop, drop);
    let ended = handle.wait_for(PATIENCE);
    let status = handle.status();
    if ended {
        drop(player);
    } else {
        // Stuck in the middleware, behind a subscription that takes nothing: the process ends all the same.
        std::mem::forget(player);
    }
    status
}

/// Says what was played and what was not; whether anything is missing.
fn summary(
    status: &Status,
    server: &Server,
    bags: &[impl AsRef<Path>],
    context: &mut Context,
) -> bool {
    let played = |topic: &&timeloom_node::player::TopicStatus| topic.played > 0;
    let topics = status.topics.iter().filter(played).count();
    context.printer.note(&format!(
        "played {} of {}",
        counted(status.played(), "message"),
        counted(topics as u64, "topic")
    ));
    for topic in status.topics.iter().filter(|topic| topic.failed > 0) {
        let failed = counted(topic.failed, "message");
        let text = format!("{failed} of {} refused by the middleware", topic.name);
        context.printer.loss(&text);
    }
    let slow = report_slow_clients(server, context);
    let bag = bags.first().map_or(Path::new("."), AsRef::as_ref);
    if let Some(remedy) = damage::remedy(bag, &status.damage) {
        context.printer.hint(&remedy);
    }
    status.lost() > 0 || damage::means_loss(&status.damage) || slow
}

/// Says how many messages clients missed; whether any.
pub(super) fn report_slow_clients(server: &Server, context: &mut Context) -> bool {
    let dropped = server.dropped();
    if dropped > 0 {
        let text = format!(
            "{} not sent to clients that were too slow",
            counted(dropped, "message")
        );
        context.printer.loss(&text);
        context
            .printer
            .hint("a larger --client-queue-mib bridges longer pauses of a client");
    }
    dropped > 0
}

/// The name of the bags, for people.
fn title(bags: &[impl AsRef<Path>]) -> String {
    let names: Vec<String> = bags
        .iter()
        .map(|bag| {
            let path = bag.as_ref();
            let whole = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
            let name = whole.file_name().map(std::ffi::OsStr::to_string_lossy);
            name.map_or_else(|| path.display().to_string(), std::borrow::Cow::into_owned)
        })
        .collect();
    names.join(" + ")
}
