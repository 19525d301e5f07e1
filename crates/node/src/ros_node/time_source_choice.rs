use timeloom_time::TwoSources;

use timeloom_msg::ParameterValue;

/// The source of a node's simulated time, while `use_sim_time` is true.
///
/// As a parameter it is `sim_time_source`, with the values `default`, `topic` and `process`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeSourceChoice {
    /// The process's source if it has one when simulated time is switched on, `/clock` otherwise.
    #[default]
    Default,
    /// `/clock`, as in rclcpp.
    Topic,
    /// [`TimeHub::process`](timeloom_time::TimeHub::process).
    Process,
}

/// The parameter of [`TimeSourceChoice`].
pub(super) const SIM_TIME_SOURCE: &str = "sim_time_source";
/// The parameter of [`TwoSources`].
pub(super) const SIM_TIME_CONFLICT: &str = "sim_time_conflict";

impl TimeSourceChoice {
    pub(super) fn of(value: &ParameterValue) -> Result<Self, String> {
        let known = [
            ("default", Self::Default),
            ("topic", Self::Topic),
            ("process", Self::Process),
        ];
        choice(&known, value)
    }
}

/// The policy of a node for two publishers of time.
pub(super) fn two_sources(value: &ParameterValue) -> Result<TwoSources, String> {
    let known = [
        ("follow_both", TwoSources::FollowBoth),
        ("follow_first", TwoSources::FollowFirst),
    ];
    choice(&known, value)
}

fn choice<T: Copy>(known: &[(&str, T)], value: &ParameterValue) -> Result<T, String> {
    let text = match value {
        ParameterValue::String(text) => text.as_str(),
        _ => "",
    };
    let found = known.iter().find(|(name, _)| *name == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
        format!("`{text}` is none of {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_values_are_refused_with_the_valid_ones() {
        let text = |text: &str| ParameterValue::String(text.to_owned());
        assert_eq!(
            TimeSourceChoice::of(&text("process")),
            Ok(TimeSourceChoice::Process)
        );
        assert_eq!(
            TimeSourceChoice::of(&text("gps")),
            Err("`gps` is none of default, topic, process".to_owned())
        );
        assert_eq!(
            two_sources(&text("follow_first")),
            Ok(TwoSources::FollowFirst)
        );
        assert!(two_sources(&ParameterValue::Bool(true)).is_err());
    }
}
