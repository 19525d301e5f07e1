use timeloom_node::player::{Answer, Control, PlayRange, PlayerHandle, Refusal, State};
use timeloom_time::Duration;

/// Sends a control to the player. After the end of the bag, seeking back and resuming start it again.
pub(super) fn steer(player: &PlayerHandle, control: Control) -> Result<(), Refusal> {
    let status = player.status();
    let over = status.state.is_over() || status.state == State::Idle;
    let send = |control| player.control(control).map(|_: Answer| ());
    let behind_the_end = match control {
        Control::Seek(_) | Control::SeekBy(_) | Control::StepBack => over,
        Control::Resume | Control::TogglePaused if over => {
            send(Control::Resume)?;
            return send(Control::Play(PlayRange::default()));
        }
        _ => false,
    };
    if behind_the_end {
        begin_again(player)?;
        if let Some((_, end)) = status.range {
            // Resume at the position where it ended.
            send(Control::Seek(end.saturating_add(Duration::from_nanos(1))))?;
        }
    }
    send(control)
}

/// Starts again, paused.
fn begin_again(player: &PlayerHandle) -> Result<(), Refusal> {
    player.control(Control::Pause)?;
    match player.control(Control::Play(PlayRange::default())) {
        Err(Refusal::AlreadyPlaying) => Ok(()),
        done => done.map(|_: Answer| ()),
    }
}
