//! `--remap old:=new`.

use std::str::FromStr;

use timeloom_bag::TopicInfo;

use crate::failure::Failure;

/// One renaming, as it was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remap {
    from: String,
    to: String,
}

impl FromStr for Remap {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "expected OLD:=NEW, such as /imu:=/imu/data".to_owned();
        let (from, to) = text.split_once(":=").ok_or_else(wrong)?;
        let name = |name: &str| {
            let absolute = if name.starts_with('/') {
                name.to_owned()
            } else {
                format!("/{name}")
            };
            let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '/');
            let good =
                absolute.len() > 1 && absolute.chars().all(is_name) && !absolute.contains("//");
            good.then_some(absolute).ok_or_else(wrong)
        };
        Ok(Self {
            from: name(from)?,
            to: name(to)?,
        })
    }
}

/// The renamings by topic; a service gives the name of its event topic.
pub(super) fn pairs(
    remaps: &[Remap],
    topics: &[TopicInfo],
) -> Result<Vec<(String, String)>, Failure> {
    let mut pairs = Vec::new();
    for Remap { from, to } in remaps {
        let before = pairs.len();
        for topic in topics {
            if topic.name == *from {
                pairs.push((from.clone(), to.clone()));
            } else if topic.service_name() == Some(from.as_str()) {
                pairs.push((topic.name.clone(), format!("{to}/_service_event")));
            }
        }
        if pairs.len() == before {
            let known = topics.iter().map(|topic| topic.name.as_str());
            let text = format!("cannot rename {from}: it is not in the bag");
            return Err(Failure::new(text).suggest(from, known));
        }
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_and_services_are_renamed() {
        let topics = [
            TopicInfo::new("/imu", "sensor_msgs/msg/Imu"),
            TopicInfo::new(
                "/add/_service_event",
                "example_interfaces/srv/AddTwoInts_Event",
            ),
        ];
        let remaps = ["imu:=/imu/data", "/add:=/sum"].map(|text| text.parse().unwrap());
        let expected = [
            ("/imu", "/imu/data"),
            ("/add/_service_event", "/sum/_service_event"),
        ];
        assert_eq!(
            pairs(&remaps, &topics).unwrap(),
            expected.map(|(a, b)| (a.to_owned(), b.to_owned()))
        );
        assert!(pairs(&["/imx:=/b".parse().unwrap()], &topics).is_err());
    }

    #[test]
    fn invalid_renamings_are_refused() {
        for text in ["", "a", "a=b", ":=", "a:=", ":=b", "a:=b c", "a:=//b"] {
            assert!(text.parse::<Remap>().is_err(), "{text}");
        }
    }
}
