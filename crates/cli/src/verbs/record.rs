//! `timeloom record`: records the topics of a robot into a bag and counts missing messages.

mod arguments;
mod full_names;
mod full_screen;
mod key_value;
mod params_file;
mod rules;
mod setup;
pub(crate) mod summary;
mod triggers;
mod upload;
mod view;

use std::sync::Arc;

use timeloom_node::fleet::FleetMember;
use timeloom_node::recorder::{Control, Note, Notifier, Recorder, Services};
use timeloom_node::{Names, RosNode, Severity};
use timeloom_time::{Duration, Event};
use timeloom_tui::{KeyCode, Keyboard};

pub(crate) use self::arguments::Arguments;
use self::view::View;
use crate::context::Context;
use crate::live::{Live, Notices, has_terminal};
use crate::outcome::Outcome;
use crate::verbs::info::Format;

/// Interval of drawing the view and polling the recorder.
const LOOK: Duration = Duration::from_millis(500);

pub(crate) fn run(mut arguments: Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let filled_in = params_file::fill_in(&mut arguments, context)?;
    full_names::expand(&mut arguments, &Names::new(&filled_in.node)?);
    let arguments = &arguments;
    let mut warnings = filled_in.warnings;
    warnings.extend(rules::check(arguments)?);
    // Everything that may be refused is refused before anything is created.
    let setup = setup::Setup::read(arguments)?;
    context.printer.warnings(&warnings);
    let mut upload = upload::start(arguments)?;
    let live = Live::join_beside(&arguments.live, context)?;
    let node = RosNode::new(Arc::clone(live.participant()), filled_in.node)?;
    let notices = Notices::default();
    let reported = notices.clone();
    node.set_reporter(move |severity, text| {
        if severity >= Severity::Warn {
            reported.warn(text);
        }
    });
    let reported = notices.clone();
    let mut options = setup.options(&node)?;
    options.reporter = Some(Arc::new(move |note: &Note| {
        reported.add(note.severity, note.text.as_str());
    }));
    let directory = options.output.clone();
    let recorder = Recorder::start(
        Arc::clone(live.participant()),
        Arc::clone(node.wire()),
        options,
    )?;
    let rate = arguments.statistics_rate();
    let services = Services::start(&node, &recorder, setup.distro())?;
    let member = arguments.behaviour.fleet.as_ref().map(|fleet| {
        let identity = timeloom_node::process_identity();
        FleetMember::join(&node, &recorder, fleet, identity)
    });
    let member = member.transpose()?;
    let notifier = Notifier::start(&node, &recorder, rate, setup.distro())?;
    let text = format!("recording to {}", directory.display());
    context.printer.note(&text);
    watch(arguments, &live, &recorder, &notices, &mut upload, context)?;
    drop(member);
    drop(services);
    let reports = recorder.finish()?;
    // Its last notices report losses that were counted at the end.
    drop(notifier);
    let mut lost = false;
    for report in &reports {
        lost |= summary::print(report, context);
        if arguments.behaviour.format == Format::Json {
            writeln!(context.printer.data(), "{}", summary::json(report))?;
        }
    }
    context.printer.warnings(&live.later_notes());
    for report in &reports {
        upload.look(&report.directory, context);
    }
    let uploaded = upload.finish(context);
    Ok(if lost || uploaded {
        Outcome::lost_if(lost)
    } else {
        Outcome::ProblemFound
    })
}

/// Shows the state until the recording is stopped or ends.
fn watch(
    arguments: &Arguments,
    live: &Live,
    recorder: &Recorder,
    notices: &Notices,
    upload: &mut upload::Upload,
    context: &mut Context,
) -> anyhow::Result<()> {
    upload.count_signals(live.interrupt());
    let wake = Event::new(&live.base());
    let waker = wake.clone();
    live.interrupt().wakes(move || waker.set());
    let behaviour = &arguments.behaviour;
    if behaviour.tui && has_terminal(context) {
        full_screen::run(recorder, notices, arguments.has_ring(), live, context)?;
        notices.print(context);
        return Ok(());
    }
    let keyboard = if arguments.behaviour.disable_keyboard_controls {
        None
    } else {
        open_keyboard(recorder, notices, &wake, arguments.has_ring())?
    };
    if keyboard.is_some() {
        let s = if arguments.has_ring() {
            "snapshot"
        } else {
            "split"
        };
        let text = format!("keys: space pauses and resumes, s {s}s, Ctrl-C ends");
        context.printer.aside(&text);
    }
    let mut view = View::new(context.printer.shows_progress(), live.clock());
    while !live.interrupt().happened() && recorder.ended().is_none() {
        view.print(notices, context);
        let status = recorder.status();
        upload.look(&status.directory, context);
        view.draw(&status, context);
        wake.wait_for(LOOK);
        wake.clear();
    }
    view.print(notices, context);
    view.clear();
    drop(keyboard);
    Ok(())
}

fn open_keyboard(
    recorder: &Recorder,
    notices: &Notices,
    wake: &Event,
    has_ring: bool,
) -> anyhow::Result<Option<Keyboard>> {
    let (recorder, notices, wake) = (recorder.clone(), notices.clone(), wake.clone());
    let keyboard = Keyboard::open(move |key| {
        let control = match key {
            KeyCode::Char(' ') => Control::TogglePaused,
            KeyCode::Char('s') if has_ring => Control::Snapshot,
            KeyCode::Char('s') => Control::Split,
            _ => return,
        };
        if let Err(error) = recorder.control(&control) {
            notices.warn(error.to_string());
        }
        wake.set();
    })?;
    Ok(keyboard)
}
