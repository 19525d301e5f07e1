//! `record --tui`: the recorder in the whole terminal.

use timeloom_node::recorder::{Control, Recorder};
use timeloom_tui::{RecorderScreen, Screen as _, Theme, show};

use crate::context::Context;
use crate::live::{Live, Notices};

/// Shows the recorder until it ends or the user leaves. Notices are kept and printed afterwards.
pub(super) fn run(
    recorder: &Recorder,
    notices: &Notices,
    snapshots: bool,
    live: &Live,
    context: &Context,
) -> anyhow::Result<()> {
    let clock = live.clock();
    let mut screen = RecorderScreen::new(snapshots, Theme::new(context.printer.has_colours()));
    let mut after = Vec::new();
    let update = |screen: &mut RecorderScreen| {
        for note in notices.take() {
            screen.show_message(note.text.clone());
            after.push(note);
        }
        screen.update(recorder.status(), clock.now());
        !live.interrupt().happened() && recorder.ended().is_none()
    };
    let _ended = show(&mut screen, update, |control| answer(recorder, &control))?;
    for note in after {
        notices.add(note.severity, note.text);
    }
    Ok(())
}

fn answer(recorder: &Recorder, control: &Control) -> String {
    match recorder.control(control) {
        Ok(()) => String::new(),
        Err(error) => error.to_string(),
    }
}
