//! `--params-file`: the parameters of rosbag2's player as flags, for those who launch it with a YAML file.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use timeloom_node::ParameterValue;

use crate::failure::Failure;
use crate::params_file;

/// The name that files know the player by, unless it has another one.
const NODE: &str = "rosbag2_player";

/// The words of a command line, with what its parameter files say put in; flags on the command line win.
pub(crate) fn expand(words: impl IntoIterator<Item = OsString>) -> anyhow::Result<Vec<OsString>> {
    let mut words: Vec<OsString> = words.into_iter().collect();
    let Some(verb) = words.iter().position(|word| word == "play") else {
        return Ok(words);
    };
    let files = values(&words, params_file::FLAG);
    if verb != 1 || files.is_empty() {
        return Ok(words);
    }
    let name = values(&words, "--node-name").pop();
    let options = params_file::read(name.as_deref().unwrap_or(NODE), files)?;
    let (bag, flags) = translate(&options.parameters)?;
    let mut more = Vec::new();
    for Flag { long, short, value } in flags {
        if !is_given(&words, long, short) {
            more.push(value.map_or(long.to_owned(), |value| format!("{long}={value}")));
        }
    }
    words.extend(more.into_iter().map(OsString::from));
    if let Some(bag) = bag.filter(|_| !has_bag(&words)) {
        words.insert(verb + 1, bag.into());
    }
    Ok(words)
}

/// The values of a flag.
fn values(words: &[OsString], flag: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let text = word.to_string_lossy();
        let attached = text
            .strip_prefix(flag)
            .and_then(|rest| rest.strip_prefix('='));
        if let Some(value) = attached {
            found.push(value.to_owned());
        } else if text == flag {
            let next = words.get(index + 1).map(|word| word.to_string_lossy());
            found.extend(next.map(std::borrow::Cow::into_owned));
        }
    }
    found
}

fn is_given(words: &[OsString], long: &str, short: Option<char>) -> bool {
    words.iter().any(|word| {
        let text = word.to_string_lossy();
        let rest = text.strip_prefix(long);
        let is_long = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='));
        is_long || short.is_some_and(|short| text.starts_with(&format!("-{short}")))
    })
}

/// Whether the command line names a bag: its first word is one, or there is `-i`.
fn has_bag(words: &[OsString]) -> bool {
    let first = words.get(2).map(OsString::as_os_str);
    first.is_some_and(|word: &OsStr| !word.to_string_lossy().starts_with('-'))
        || is_given(words, "--input", Some('i'))
}

struct Flag {
    long: &'static str,
    short: Option<char>,
    value: Option<String>,
}

/// How a parameter becomes a flag.
#[derive(Clone, Copy)]
enum Kind {
    /// Its value.
    Value,
    /// Its value, unless it is 0.
    Positive,
    /// Given if it is true.
    Switch,
    /// Its values, if there are any.
    List,
    /// Seconds of `.sec` and `.nsec`, unless negative.
    Seconds,
    /// The same in milliseconds; for those, a negative time means never.
    Millis,
    /// The same in nanoseconds.
    Nanos,
    /// Nothing depends on it.
    Nothing,
}

const PLAY: [(&str, Kind, &str, Option<char>); 29] = [
    (
        "read_ahead_queue_size",
        Kind::Value,
        "--read-ahead-queue-size",
        None,
    ),
    ("rate", Kind::Value, "--rate", Some('r')),
    ("topics_to_filter", Kind::List, "--topics", None),
    ("services_to_filter", Kind::List, "--services", None),
    ("actions_to_filter", Kind::List, "--actions", None),
    ("regex_to_filter", Kind::Value, "--regex", Some('e')),
    (
        "exclude_regex_to_filter",
        Kind::Value,
        "--exclude-regex",
        Some('x'),
    ),
    (
        "exclude_topics_to_filter",
        Kind::List,
        "--exclude-topics",
        None,
    ),
    (
        "exclude_services_to_filter",
        Kind::List,
        "--exclude-services",
        None,
    ),
    (
        "exclude_actions_to_filter",
        Kind::List,
        "--exclude-actions",
        None,
    ),
    (
        "qos_profile_overrides_path",
        Kind::Value,
        "--qos-profile-overrides-path",
        None,
    ),
    ("loop", Kind::Switch, "--loop", Some('l')),
    ("clock_publish_frequency", Kind::Positive, "--clock", None),
    (
        "clock_publish_on_topic_publish",
        Kind::Switch,
        "--clock-topics-all",
        None,
    ),
    ("clock_trigger_topics", Kind::List, "--clock-topics", None),
    ("delay", Kind::Seconds, "--delay", Some('d')),
    (
        "playback_duration",
        Kind::Seconds,
        "--playback-duration",
        None,
    ),
    (
        "playback_until_timestamp",
        Kind::Nanos,
        "--playback-until-nsec",
        None,
    ),
    ("start_paused", Kind::Switch, "--start-paused", Some('p')),
    ("start_offset", Kind::Seconds, "--start-offset", None),
    (
        "disable_keyboard_controls",
        Kind::Switch,
        "--disable-keyboard-controls",
        None,
    ),
    (
        "wait_acked_timeout",
        Kind::Millis,
        "--wait-for-all-acked",
        None,
    ),
    (
        "disable_loan_message",
        Kind::Switch,
        "--disable-loan-message",
        None,
    ),
    (
        "service_requests_source",
        Kind::Value,
        "--service-requests-source",
        None,
    ),
    (
        "publish_service_request",
        Kind::Switch,
        "--publish-service-requests",
        None,
    ),
    (
        "publish_service_requests",
        Kind::Switch,
        "--publish-service-requests",
        None,
    ),
    ("message_order", Kind::Value, "--message-order", None),
    (
        "progress_bar_update_rate",
        Kind::Value,
        "--progress-bar-update-rate",
        None,
    ),
    ("node_prefix", Kind::Nothing, "", None),
];
const STORAGE: [(&str, Kind, &str, Option<char>); 2] = [
    ("storage_id", Kind::Value, "--storage", Some('s')),
    (
        "storage_config_uri",
        Kind::Value,
        "--storage-config-file",
        None,
    ),
];

type Parameters = BTreeMap<String, ParameterValue>;

/// The bag and the flags that parameters stand for.
fn translate(parameters: &Parameters) -> Result<(Option<String>, Vec<Flag>), Failure> {
    let mut flags = Vec::new();
    let tables = [("play", &PLAY[..]), ("storage", &STORAGE[..])];
    for (group, table) in tables {
        for (name, kind, long, short) in table {
            let full = format!("{group}.{name}");
            let value = match kind {
                Kind::Seconds | Kind::Millis | Kind::Nanos => time(parameters, &full, *kind)?,
                Kind::Nothing => None,
                _ => plain(parameters, &full, *kind)?,
            };
            if let Some(value) = value {
                flags.push(Flag {
                    long,
                    short: *short,
                    value: Some(value).filter(|value| !value.is_empty()),
                });
            }
        }
    }
    // With triggering topics, the switch means them and not all.
    if flags.iter().any(|flag| flag.long == "--clock-topics") {
        flags.retain(|flag| flag.long != "--clock-topics-all");
    }
    if parameters.get("use_sim_time") == Some(&ParameterValue::Bool(true)) {
        flags.push(Flag {
            long: "--use-sim-time",
            short: None,
            value: None,
        });
    }
    check_names(parameters)?;
    let bag = match parameters.get("storage.uri") {
        Some(ParameterValue::String(uri)) if !uri.is_empty() => Some(uri.clone()),
        _ => None,
    };
    Ok((bag, flags))
}

fn wrong(name: &str, value: &ParameterValue, wanted: &str) -> Failure {
    Failure::usage(format!(
        "parameter {name} is {value:?}, and {wanted} is expected"
    ))
}

/// A parameter as the value of a flag: empty for a switch, none if the flag is not to be given.
fn plain(parameters: &Parameters, name: &str, kind: Kind) -> Result<Option<String>, Failure> {
    let Some(value) = parameters.get(name) else {
        return Ok(None);
    };
    Ok(match (kind, value) {
        (Kind::Switch, ParameterValue::Bool(on)) => on.then(String::new),
        (Kind::Switch, _) => return Err(wrong(name, value, "true or false")),
        (Kind::List, ParameterValue::Strings(list)) => {
            Some(list.join(",")).filter(|list| !list.is_empty())
        }
        (Kind::List, ParameterValue::String(one)) if one.is_empty() => None,
        (Kind::List, _) => return Err(wrong(name, value, "a list of names")),
        (_, ParameterValue::String(text)) => {
            let text = if name == "play.service_requests_source" {
                text.to_lowercase()
            } else {
                text.clone()
            };
            Some(text).filter(|text| !text.is_empty())
        }
        (Kind::Positive, ParameterValue::Integer(0)) => None,
        (Kind::Positive, ParameterValue::Double(number)) if *number == 0.0 => None,
        (_, ParameterValue::Integer(number)) => Some(number.to_string()),
        (_, ParameterValue::Double(number)) => Some(number.to_string()),
        _ => return Err(wrong(name, value, "a number or a text")),
    })
}

/// A time in two parameters; negative is none.
fn time(parameters: &Parameters, name: &str, kind: Kind) -> Result<Option<String>, Failure> {
    let mut total = None;
    for (part, unit) in [("sec", 1_000_000_000_i64), ("nsec", 1)] {
        let name = format!("{name}.{part}");
        match parameters.get(&name) {
            None => {}
            Some(ParameterValue::Integer(number)) => {
                let sum = number.saturating_mul(unit);
                total = Some(sum.saturating_add(total.unwrap_or(0)));
            }
            Some(value) => return Err(wrong(&name, value, "a whole number")),
        }
    }
    let Some(total) = total.filter(|total| *total >= 0) else {
        return Ok(None);
    };
    Ok(Some(match kind {
        Kind::Millis => (total / 1_000_000).to_string(),
        Kind::Nanos => total.to_string(),
        _ => format!("{}.{:09}", total / 1_000_000_000, total % 1_000_000_000),
    }))
}

/// A name that is none must not pass in silence: what it was to do would not be done.
fn check_names(parameters: &Parameters) -> Result<(), Failure> {
    let known: Vec<String> = PLAY
        .iter()
        .map(|(name, ..)| format!("play.{name}"))
        .chain(["play.topic_remapping_options".to_owned()])
        .collect();
    for name in parameters.keys().filter(|name| name.starts_with("play.")) {
        let whole = name
            .strip_suffix(".sec")
            .or_else(|| name.strip_suffix(".nsec"))
            .unwrap_or(name);
        if !known.iter().any(|known| known == whole) {
            return Err(params_file::unknown(
                whole,
                known.iter().map(String::as_str),
            ));
        }
    }
    Ok(())
}
