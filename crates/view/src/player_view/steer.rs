use timeloom_node::player::{Answer, Control, Mark, PlayRange, PlayerHandle, Refusal, State};
use timeloom_time::{Duration, Time};

use crate::command::Command;

/// Does what somebody asks for by the player's controls. Behind the end, a way back is a way to play again.
pub(super) fn obey(player: &PlayerHandle, command: Command) -> Result<(), Refusal> {
    let status = player.status();
    let over = status.state.is_over() || status.state == State::Idle;
    let control = |control| player.control(control).map(|_: Answer| ());
    let behind_the_end = match command {
        Command::SeekTo(_) | Command::SeekBy(_) | Command::StepBack => over,
        Command::Resume | Command::Toggle if over => {
            control(Control::Resume)?;
            return control(Control::Play(PlayRange::default()));
        }
        _ => false,
    };
    if behind_the_end {
        begin_again(player)?;
        if let Some((_, end)) = status.range {
            // Where it was when it ended.
            control(Control::Seek(end.saturating_add(Duration::from_nanos(1))))?;
        }
    }
    control(match command {
        Command::Pause => Control::Pause,
        Command::Resume => Control::Resume,
        Command::Toggle => Control::TogglePaused,
        Command::SetRate(rate) => Control::SetRate(rate),
        Command::SeekTo(time) => Control::Seek(Time::from_nanos(time)),
        Command::SeekBy(step) => Control::SeekBy(Duration::from_nanos(step)),
        Command::StepForward => Control::PlayNext,
        Command::StepBack => Control::StepBack,
        Command::MarkA => Control::Mark(Mark::A),
        Command::MarkB => Control::Mark(Mark::B),
        Command::ClearMarks => Control::SetLoop(None),
        Command::Split | Command::Snapshot => return Err(Refusal::NotPlaying),
    })
}

/// Plays the whole again, with time standing.
fn begin_again(player: &PlayerHandle) -> Result<(), Refusal> {
    player.control(Control::Pause)?;
    match player.control(Control::Play(PlayRange::default())) {
        // Somebody else was quicker.
        Err(Refusal::AlreadyPlaying) => Ok(()),
        done => done.map(|_: Answer| ()),
    }
}
