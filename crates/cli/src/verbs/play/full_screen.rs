//! `play --tui`: the player in the whole terminal.

use timeloom_node::player::{Answer, Control, PlayerHandle, Refusal};
use timeloom_time::{Duration, Ros, Time};
use timeloom_tui::{Ended, PlayerScreen, Screen as _, Theme, show};

use super::playback::NoticeQueue;
use crate::context::Context;
use crate::live::Live;

/// Shows the player until it ends or the user leaves, which stops it. Notices are kept and printed afterwards.
pub(super) fn run(
    title: &str,
    player: &PlayerHandle,
    words: &NoticeQueue,
    live: &Live,
    context: &Context,
) -> anyhow::Result<()> {
    let clock = live.clock();
    let mut screen = PlayerScreen::new(title, Theme::new(context.printer.has_colours()));
    let mut after = Vec::new();
    let update = |screen: &mut PlayerScreen| {
        for word in words.take() {
            screen.show_message(word.text());
            after.push(word);
        }
        screen.update(player.status(), clock.now());
        !player.wait_for(Duration::ZERO) && !live.interrupt().happened()
    };
    let ended = show(&mut screen, update, |control| answer(player, control))?;
    for word in after {
        words.say(word);
    }
    if ended == Ended::Left {
        player.control_then(Control::Stop, drop);
    }
    Ok(())
}

/// The result of a control as a short text.
fn answer(player: &PlayerHandle, control: Control) -> String {
    match player.control(control) {
        Ok(answer) => answer_text(answer, player),
        // The last message is out while the key is pressed.
        Err(Refusal::Ended) => String::new(),
        Err(refusal) => refusal.to_string(),
    }
}

fn answer_text(answer: Answer, player: &PlayerHandle) -> String {
    match answer {
        Answer::Paused(true) => "paused".to_owned(),
        Answer::Paused(false) => "playing".to_owned(),
        Answer::Rate(rate) => format!("rate {rate:.3}"),
        Answer::At(time) => format!("at {}", since_start(time, player)),
        Answer::Played(count) => format!("{count} published"),
        _ => String::new(),
    }
}

fn since_start(time: Time<Ros>, player: &PlayerHandle) -> String {
    let start = player.status().range.map_or(time, |(start, _)| start);
    format!("{:.3} s", (time - start).as_secs_f64())
}
