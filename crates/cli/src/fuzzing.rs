//! Texts of users and bytes of terminals, read as this crate reads them: for libFuzzer (`fuzz/`), and for a test.

use clap::Parser as _;
use fancy_regex::Regex;
use jiff::tz::TimeZone;
use timeloom_bag::TopicInfo;
use timeloom_msg::Definitions;
use timeloom_time::WireTime;

use crate::cli::Cli;
use crate::live::fuzzing::{keys, message};
use crate::time_argument::{TimeArgument, span};
use crate::topic_selection::{CheckSelection as _, TopicSelection};
use crate::verbs::convert::fuzz_options;

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_cli(data));

/// Types that have every kind of field.
const TYPES: [&str; 5] = [
    "std_msgs/msg/Header",
    "sensor_msgs/msg/PointCloud2",
    "visualization_msgs/msg/MarkerArray",
    "rcl_interfaces/srv/SetParameters_Request",
    "sensor_msgs/msg/Imu",
];

/// The first byte chooses what reads the rest.
fn fuzz_cli(data: &[u8]) {
    let Some((choice, bytes)) = data.split_first() else {
        return;
    };
    let text = String::from_utf8_lossy(bytes);
    match choice % 6 {
        0 => time(&text),
        1 => {
            let name = TYPES[usize::from(choice / 6) % TYPES.len()];
            let schema = Definitions::builtin().schema(name);
            message(&schema.expect("a built-in type"), &text);
        }
        2 => selection(&text),
        3 => keys(bytes),
        4 => fuzz_options(&text),
        _ => {
            let words = ["timeloom"].into_iter().chain(text.split(' '));
            drop(Cli::try_parse_from(words));
        }
    }
}

fn time(text: &str) {
    let _span = span(text);
    let Ok(time) = text.parse::<TimeArgument>() else {
        return;
    };
    for (start, end) in [(0, 1), (i64::MIN, i64::MAX), (1_794_733_131, 0)] {
        let _resolved = time.resolve(start, end, &TimeZone::UTC);
    }
}

/// An expression in the first line, names in the others: it answers, or it is refused.
fn selection(text: &str) {
    let mut lines = text.lines();
    let Ok(regex) = Regex::new(lines.next().unwrap_or_default()) else {
        return;
    };
    let names = lines.take(4).map(|name| TopicInfo::new(name, "p/msg/T"));
    let topics: Vec<TopicInfo> = names.collect();
    let selection = TopicSelection {
        regex: Some(regex),
        ..TopicSelection::default()
    };
    let decided = selection.check_expressions(&topics).is_ok();
    let taken = topics.iter().filter(|topic| selection.takes(topic)).count();
    assert!(decided || taken <= topics.len());
    let _refused = selection.check_names(&topics);
}

/// The stamp of messages that ask for now.
pub(crate) const NOW: WireTime = WireTime { sec: 3, nanosec: 4 };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_input_never_panics() {
        let inputs: [&[u8]; 14] = [
            b"\x00+1m30s",
            b"\x002026-11-15T09:58:51.9+01:00",
            b"\x0014:03:07",
            b"\x001794733131.923572955",
            b"\x01{stamp: {sec: 3}, frame_id: map}",
            b"\x07{\"header\": \"auto\", \"data\": \"Zm9vYg==\", \"fields\": [{name: x}]}",
            b"\x0d{markers: [{points: [{x: .nan}], lifetime: {sec: 1}}]}",
            b"\x13parameters: [{name: a, value: {type: 3, double_value: 1e300}}]",
            b"\x02^/(?=a).*_(b|c)+$\n/a/b_c\n/_hidden\n/go/_action/status\n/s/_service_event",
            b"\x03a\x1b[A\x1b[5~\x1bOH\xc3\xa4\x1b[1;5C\r\x7f\x1b",
            b"\x04output_bags:\n- uri: x\n  storage_id: mcap\n  all: true\n  regex: 'a.*'\n  topics: [a]\n  compression_mode: file\n  custom_data: {a: b}\n  max_bagfile_size: 7",
            b"\x05play bag --start-offset 1.5 --rate 2 --topics /a /b --loop",
            b"\x05record -a --exclude-regex (a|b)+ --max-bag-size 100 -o x",
            b"\x05topic pub /t std_msgs/msg/String {data: 1} --qos-depth 7 -r 3",
        ];
        let inputs = inputs.map(<[u8]>::to_vec);
        timeloom_testkit::mutation::fuzz(
            "cli",
            fuzz_cli,
            &inputs,
            60,
            &["(", "*", "--", "[", "\n"],
        );
    }
}
