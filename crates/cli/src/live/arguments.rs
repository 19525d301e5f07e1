//! The flags of every live verb.

use clap::Args;
use timeloom_time::Duration;
use timeloom_wire::environment::Environment;

/// Network and discovery.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Network")]
pub(crate) struct LiveArguments {
    /// Longest time to discover other nodes; discovery ends earlier when nothing new is found
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    pub(crate) spin_time: Duration,
    /// Use 127.0.0.1 only; overrides the environment
    #[arg(long)]
    pub(crate) localhost: bool,
    /// Arguments of a ROS node, up to `--` or the end: -r old:=new, -p name:=value, --params-file FILE,
    /// --log-level LEVEL, -e ENCLAVE
    // Taken out of the line before it is parsed (`ros_line.rs`): verbs without this flag have no node.
    #[arg(long)]
    ros_args: bool,
    /// Accepted for compatibility with ros2; has no effect, as there is no daemon
    #[arg(long, hide = true)]
    no_daemon: bool,
}

impl LiveArguments {
    /// The environment variables of ROS 2.
    pub(crate) fn environment() -> anyhow::Result<Environment> {
        Ok(Environment::read(&|name| std::env::var(name).ok())?)
    }
}

/// Seconds on the command line: not negative, with fractions.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text
        .parse()
        .map_err(|error| format!("expected a number of seconds: {error}"))?;
    Duration::try_from_secs_f64(number)
        .filter(|duration| !duration.is_negative())
        .ok_or_else(|| "expected a number of seconds, 0 or more".to_owned())
}

/// A rate on the command line: more than none.
pub(crate) fn hertz(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    number
        .filter(|number| number.is_finite() && *number > 0.0)
        .ok_or_else(|| "expected a number above 0".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_not_negative() {
        assert_eq!(seconds("0.25"), Ok(Duration::from_millis(250)));
        for wrong in ["-1", "NaN", "1e300", "soon"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn rates_must_be_positive() {
        assert_eq!(hertz("0.5"), Ok(0.5));
        for wrong in ["0", "-1", "inf", "NaN", "often"] {
            assert!(hertz(wrong).is_err(), "{wrong}");
        }
    }
}
