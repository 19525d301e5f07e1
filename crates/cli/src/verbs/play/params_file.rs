//! The parameters of rosbag2's player, from `--params-file` and `--ros-args`, for what no flag says.

use std::collections::BTreeMap;

use clap::ValueEnum;
use timeloom_node::ParameterValue;
use timeloom_time::Duration;

use super::Arguments;
use super::bag_arguments::BagArguments;
use super::time_arguments::{MaybeTime, hertz, rate};
use crate::failure::Failure;
use crate::params_file::{Given, seconds_and_nanos, unknown};

/// The parameters below `play.` that rosbag2 has, of any distribution.
const KEYS: [&str; 30] = [
    "play.read_ahead_queue_size",
    "play.rate",
    "play.topics_to_filter",
    "play.services_to_filter",
    "play.actions_to_filter",
    "play.regex_to_filter",
    "play.exclude_regex_to_filter",
    "play.exclude_topics_to_filter",
    "play.exclude_services_to_filter",
    "play.exclude_actions_to_filter",
    "play.qos_profile_overrides_path",
    "play.loop",
    "play.clock_publish_frequency",
    "play.clock_publish_on_topic_publish",
    "play.clock_trigger_topics",
    "play.delay",
    "play.playback_duration",
    "play.playback_until_timestamp",
    "play.start_paused",
    "play.start_offset",
    "play.disable_keyboard_controls",
    "play.wait_acked_timeout",
    "play.disable_loan_message",
    "play.service_requests_source",
    "play.publish_service_request",
    "play.publish_service_requests",
    "play.message_order",
    "play.progress_bar_update_rate",
    "play.node_prefix",
    "play.topic_remapping_options",
];

type Parameters = BTreeMap<String, ParameterValue>;

/// Fills in what no flag says.
pub(super) fn fill_in(arguments: &mut Arguments, parameters: &Parameters) -> Result<(), Failure> {
    check_names(parameters)?;
    for (key, value) in parameters {
        let given = Given { key, value };
        if !arguments.bag.fill_in(&given)? {
            one(arguments, &given)?;
        }
    }
    // With triggering topics, the switch means them and not all.
    if !arguments.time.clock_topics.is_empty() {
        arguments.time.clock_topics_all = false;
    }
    times(arguments, parameters)
}

/// The same for a verb that has the flags about the bag alone.
pub(crate) fn fill_in_bag(bag: &mut BagArguments, parameters: &Parameters) -> Result<(), Failure> {
    check_names(parameters)?;
    for (key, value) in parameters {
        bag.fill_in(&Given { key, value })?;
    }
    Ok(())
}

fn one(arguments: &mut Arguments, given: &Given<'_>) -> Result<(), Failure> {
    let time = &mut arguments.time;
    match given.key {
        "use_sim_time" => given.flag(&mut time.use_sim_time),
        "play.rate" => given.parsed(&mut time.rate, rate),
        "play.loop" => given.flag(&mut time.repeat),
        "play.start_paused" => given.flag(&mut time.start_paused),
        "play.clock_publish_frequency" if is_zero(given.value) => Ok(()),
        "play.clock_publish_frequency" => given.parsed(&mut time.clock, hertz),
        "play.clock_publish_on_topic_publish" => given.flag(&mut time.clock_topics_all),
        "play.clock_trigger_topics" => given.list(&mut time.clock_topics),
        "play.publish_service_request" | "play.publish_service_requests" => {
            given.flag(&mut arguments.publish_service_requests)
        }
        "play.message_order" => given.parsed(&mut arguments.message_order, value_of),
        "play.service_requests_source" => {
            given.parsed(&mut arguments.service_requests_source, value_of)
        }
        "play.progress_bar_update_rate" => given.real(&mut arguments.progress_bar_update_rate),
        // About something else, or in two parts.
        _ => Ok(()),
    }
}

/// For rosbag2, a frequency of 0 is none.
fn is_zero(value: &ParameterValue) -> bool {
    match value {
        ParameterValue::Integer(number) => *number == 0,
        ParameterValue::Double(number) => *number == 0.0,
        _ => false,
    }
}

/// The value that a flag would take, in any case.
fn value_of<T: ValueEnum>(text: &str) -> Result<T, String> {
    T::from_str(text, true)
}

/// Times in two parts; a negative one says nothing.
fn times(arguments: &mut Arguments, parameters: &Parameters) -> Result<(), Failure> {
    let get = |name: &str| -> Result<Option<i64>, Failure> {
        let nanos = seconds_and_nanos(parameters, name)?;
        Ok(nanos.filter(|nanos| *nanos >= 0))
    };
    let time = &mut arguments.time;
    if let Some(delay) = get("play.delay")? {
        time.delay.get_or_insert(Duration::from_nanos(delay));
    }
    // The flags --start and --end say the same in other words.
    if let Some(offset) = get("play.start_offset")?
        && time.range.start.is_none()
    {
        time.start_offset
            .get_or_insert(Duration::from_nanos(offset));
    }
    if time.range.end.is_none() && time.playback_until_sec.is_none() {
        if let Some(duration) = get("play.playback_duration")? {
            let duration = MaybeTime(Some(Duration::from_nanos(duration)));
            time.playback_duration.get_or_insert(duration);
        }
        if let Some(until) = get("play.playback_until_timestamp")? {
            time.playback_until_nsec.get_or_insert(until);
        }
    }
    if let Some(timeout) = get("play.wait_acked_timeout")? {
        let millis = timeout / 1_000_000;
        arguments.pace.wait_for_all_acked.get_or_insert(millis);
    }
    Ok(())
}

/// A name that is none must not pass in silence: what it was to do would not be done.
fn check_names(parameters: &Parameters) -> Result<(), Failure> {
    for name in parameters.keys().filter(|name| name.starts_with("play.")) {
        let whole = name
            .strip_suffix(".sec")
            .or_else(|| name.strip_suffix(".nsec"))
            .unwrap_or(name);
        if !KEYS.contains(&whole) {
            return Err(unknown(whole, KEYS));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::{Cli, Verb};

    fn filled(line: &str, pairs: &[(&str, ParameterValue)]) -> Result<Arguments, Failure> {
        let words = ["timeloom", "play"].into_iter();
        let cli = Cli::try_parse_from(words.chain(line.split_whitespace())).unwrap();
        let Verb::Play(mut arguments) = cli.verb else {
            panic!("not play");
        };
        let pairs = pairs.iter();
        let parameters = pairs.map(|(name, value)| ((*name).to_owned(), value.clone()));
        fill_in(&mut arguments, &parameters.collect())?;
        Ok(*arguments)
    }

    #[test]
    fn flags_count_more_than_parameters() {
        let parameters = [
            ("play.rate", 4.0.into()),
            ("play.delay.sec", 3_i64.into()),
            ("play.message_order", "SENT".into()),
            ("play.wait_acked_timeout.sec", 2_i64.into()),
        ];
        let arguments = filled("bag", &parameters).unwrap();
        assert_eq!(arguments.time.rate(), rate("4").unwrap());
        assert_eq!(arguments.time.delay, Some(Duration::from_secs(3)));
        assert_eq!(arguments.message_order, Some(super::super::Order::Sent));
        assert_eq!(arguments.pace.wait_for_all_acked, Some(2000));
        let flags = "bag -r 2 --delay 1 --message-order received --wait-for-all-acked 7";
        let arguments = filled(flags, &parameters).unwrap();
        assert_eq!(arguments.time.rate(), rate("2").unwrap());
        assert_eq!(arguments.time.delay, Some(Duration::from_secs(1)));
        assert_eq!(arguments.message_order, Some(super::super::Order::Received));
        assert_eq!(arguments.pace.wait_for_all_acked, Some(7));
    }

    #[test]
    fn a_flag_overrides_a_parameter_with_another_name() {
        let parameters = [
            ("play.start_offset.sec", 1_i64.into()),
            ("play.playback_duration.sec", 1_i64.into()),
            ("play.playback_until_timestamp.sec", 9_i64.into()),
        ];
        let arguments = filled("bag --start +5s --end +6s", &parameters).unwrap();
        assert_eq!(arguments.time.start_offset, None);
        assert_eq!(arguments.time.playback_duration, None);
        assert_eq!(arguments.time.playback_until_nsec, None);
        let arguments = filled("bag", &parameters).unwrap();
        assert_eq!(arguments.time.start_offset, Some(Duration::from_secs(1)));
        assert_eq!(arguments.time.playback_until_nsec, Some(9_000_000_000));
    }

    #[test]
    fn triggering_topics_are_meant_by_the_switch() {
        let topics = ParameterValue::Strings(vec!["/a".to_owned()]);
        let parameters = [
            ("play.clock_publish_on_topic_publish", true.into()),
            ("play.clock_trigger_topics", topics),
            ("play.clock_publish_frequency", 0.0.into()),
        ];
        let arguments = filled("bag", &parameters).unwrap();
        assert_eq!(arguments.time.clock, None);
        assert_eq!(arguments.time.clock_topics, ["/a"]);
        assert!(!arguments.time.clock_topics_all);
    }

    #[test]
    fn invalid_parameters_are_named() {
        let error = |name, value| filled("bag", &[(name, value)]).unwrap_err().to_string();
        assert_eq!(error("play.rat", 2.0.into()), "unknown parameter play.rat");
        assert!(error("play.rate", "fast".into()).starts_with("parameter play.rate: "));
        assert!(error("play.rate", 0.0.into()).contains("play.rate"));
        assert!(error("play.loop", 1_i64.into()).contains("expected true or false"));
        assert!(error("play.message_order", "odd".into()).contains("play.message_order"));
        let contradiction = [
            ("use_sim_time", true.into()),
            ("play.clock_publish_frequency", 40.0.into()),
        ];
        let arguments = filled("bag", &contradiction).unwrap();
        let error = arguments.time.check().unwrap_err().to_string();
        assert!(error.contains("contradict each other"), "{error}");
    }
}
