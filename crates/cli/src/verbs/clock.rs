//! `timeloom clock`: the time of a simulation or a playback.

mod clock_listener;
mod drive;
mod echo;
mod lag;
mod publish;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom clock echo                        each sample of /clock: time, rate and publisher
  timeloom clock publish -r 0.5              a /clock at half speed, with keys and services to control it
  timeloom clock lag                         delay of message stamps behind /clock, per node
  timeloom clock drive pause                 pause the node that publishes /clock

A warning names the nodes if more than one publishes /clock.";

crate::verbs::subverbs! {
    /// Show, publish and control /clock: echo, publish, lag, drive
    #[command(after_help = EXAMPLES)]
    {
        Echo => echo,
        Publish => publish,
        Lag => lag,
        Drive => drive,
    }
}
