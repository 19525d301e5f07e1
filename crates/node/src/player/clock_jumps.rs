//! The jumps of a `/clock`, between its owner and the players that follow it.
//!
//! A sample of `/clock` does not show whether time ran to it or was moved there: after a stall of its owner every
//! message in between must be played, after a seek none; and samples may be lost with a jump between them. Therefore
//! owners keep their last jumps in a parameter, and followers query it when a step is larger than the elapsed time
//! explains, or when samples were lost.

use std::collections::VecDeque;
use std::sync::Mutex;

use timeloom_msg::value::{Array, Text};
use timeloom_msg::{QosProfile, Value};
use timeloom_time::Duration;
use timeloom_wire::Gid;
use timeloom_wire::backend::lock;

use super::clock_samples::SampleId;
use crate::{Client, ParameterAccess, ParameterValue, Result, RosNode, ServiceTypes};

const PARAMETER: &str = "clock_jumps";
const DESCRIPTION: &str = "The last jumps of /clock; of each: its number, the publisher, the number of the last sample \
                           before it, from and to in nanoseconds";
/// Number of jumps that are kept.
const KEPT: usize = 32;
/// The longest wait of a follower for the owner.
const PATIENCE: Duration = Duration::from_secs(2);

/// A jump: from and to, in nanoseconds.
pub(super) type ClockJump = (i64, i64);

/// A jump as it is in the parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LoggedJump {
    number: i64,
    /// The publisher of `/clock`, shortened.
    writer: i64,
    /// The number of the last sample before the jump.
    sample: i64,
    jump: ClockJump,
}

impl LoggedJump {
    fn numbers(&self) -> [i64; 5] {
        let (from, to) = self.jump;
        [self.number, self.writer, self.sample, from, to]
    }

    fn all(numbers: &[i64]) -> Vec<Self> {
        let (jumps, _rest) = numbers.as_chunks::<5>();
        let jump = |[number, writer, sample, from, to]: &[i64; 5]| Self {
            number: *number,
            writer: *writer,
            sample: *sample,
            jump: (*from, *to),
        };
        jumps.iter().map(jump).collect()
    }
}

fn shortened(writer: Gid) -> i64 {
    let (_, end) = writer.0.split_last_chunk().unwrap_or((&[], &[0; 8]));
    i64::from_le_bytes(*end)
}

fn number_of(sample: u64) -> i64 {
    i64::try_from(sample).unwrap_or(i64::MAX)
}

/// The jumps of an owner.
pub(super) struct JumpLog {
    node: RosNode,
    jumps: Mutex<VecDeque<LoggedJump>>,
}

impl JumpLog {
    /// Declares the parameter.
    pub(super) fn new(node: &RosNode) -> Result<Self> {
        let none = ParameterValue::Integers(Vec::new());
        let access = ParameterAccess::Writable;
        // A publisher that replaces another one continues its list.
        let known = match node.declare_parameter_with(PARAMETER, none, DESCRIPTION, access)? {
            ParameterValue::Integers(numbers) => LoggedJump::all(&numbers),
            _ => Vec::new(),
        };
        Ok(Self {
            node: node.clone(),
            jumps: Mutex::new(known.into()),
        })
    }

    /// Adds a jump, before `/clock` shows it; `last` is the last sample before it.
    pub(super) fn add(&self, last: SampleId, (from, to): ClockJump) {
        if to == from {
            return;
        }
        let mut jumps = lock(&self.jumps);
        if jumps.len() >= KEPT {
            jumps.pop_front();
        }
        let number = jumps.back().map_or(1, |last| last.number.saturating_add(1));
        jumps.push_back(LoggedJump {
            number,
            writer: shortened(last.writer),
            sample: number_of(last.sequence),
            jump: (from, to),
        });
        let all = jumps.iter().flat_map(LoggedJump::numbers).collect();
        drop(jumps);
        // A parameter callback of the application may refuse; then followers play the messages in between.
        let _set = self
            .node
            .set_parameter(PARAMETER, ParameterValue::Integers(all));
    }
}

/// Queries the owner of a `/clock` for its jumps.
#[derive(Default)]
pub(super) struct JumpInquiry {
    /// The owner that was queried last; no client if it has no list.
    owner: Option<(String, Option<Client>)>,
}

/// The jumps between two samples, oldest first.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct JumpsBetween {
    pub(super) jumps: Vec<ClockJump>,
    /// Older jumps may be missing: there were more than the owner keeps.
    pub(super) is_cut: bool,
}

impl JumpInquiry {
    /// The jumps of an owner between two samples of its `/clock`; `None` if it does not answer. Blocks for its answer,
    /// for a few seconds at most.
    pub(super) fn jumps_between(
        &mut self,
        node: &RosNode,
        owner: &str,
        samples: (SampleId, SampleId),
    ) -> Option<JumpsBetween> {
        if self.owner.as_ref().is_none_or(|(known, _)| known != owner) {
            self.owner = Some((owner.to_owned(), Some(client(node, owner)?)));
        }
        let (_, client) = self.owner.as_mut()?;
        let Some(asked) = client.as_ref() else {
            return Some(JumpsBetween::default());
        };
        let Some(jumps) = ask(asked).ok()? else {
            *client = None;
            return Some(JumpsBetween::default());
        };
        Some(between(&jumps, samples))
    }
}

fn between(jumps: &[LoggedJump], (before, after): (SampleId, SampleId)) -> JumpsBetween {
    let is_between = |jump: &LoggedJump| {
        let is_of = |id: SampleId| jump.writer == shortened(id.writer);
        let since = !is_of(before) || jump.sample >= number_of(before.sequence);
        let until = !is_of(after) || jump.sample < number_of(after.sequence);
        (is_of(before) || is_of(after)) && since && until
    };
    let is_cut = jumps.len() >= KEPT
        && jumps
            .first()
            .is_some_and(|first| first.number > 1 && is_between(first));
    let jumps = jumps.iter().filter(|jump| is_between(jump));
    JumpsBetween {
        jumps: jumps.map(|jump| jump.jump).collect(),
        is_cut,
    }
}

fn client(node: &RosNode, owner: &str) -> Option<Client> {
    let types = ServiceTypes::builtin("rcl_interfaces/srv/GetParameters").ok()?;
    let name = format!("{owner}/get_parameters");
    let client = node
        .client_with(&name, types, QosProfile::PARAMETERS)
        .ok()?;
    client.wait_for_server(PATIENCE).then_some(client)
}

/// The jumps; none if there is no such parameter.
fn ask(client: &Client) -> Result<Option<Vec<LoggedJump>>> {
    let mut request = client.request()?;
    let names = Array::String(vec![Text::from(PARAMETER)]);
    request.set("names", Value::Array(names))?;
    let response = client.call(&request, PATIENCE)?;
    let Some(Value::Array(Array::Int64(numbers))) = response.get("values[0].integer_array_value")
    else {
        return Ok(None);
    };
    let jumps = LoggedJump::all(&numbers);
    let set = response
        .get("values[0].type")
        .and_then(|kind| kind.as_u64());
    Ok(set.filter(|kind| *kind != 0).map(|_| jumps))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(writer: u8, sequence: u64) -> SampleId {
        SampleId {
            writer: Gid([writer; 16]),
            sequence,
        }
    }

    fn logged(number: i64, last: SampleId) -> LoggedJump {
        LoggedJump {
            number,
            writer: shortened(last.writer),
            sample: number_of(last.sequence),
            jump: (number * 10, number),
        }
    }

    #[test]
    fn jumps_are_found_by_the_samples_around_them() {
        let log = [
            logged(1, id(1, 4)),
            logged(2, id(1, 9)),
            logged(3, id(1, 20)),
            logged(4, id(2, 3)),
        ];
        let jumps = |before, after| between(&log, (before, after)).jumps;
        assert_eq!(jumps(id(1, 5), id(1, 12)), [(20, 2)]);
        assert_eq!(jumps(id(1, 4), id(1, 21)), [(10, 1), (20, 2), (30, 3)]);
        assert_eq!(
            jumps(id(1, 5), id(1, 9)),
            [],
            "its last sample is before it"
        );
        assert_eq!(jumps(id(1, 15), id(2, 9)), [(30, 3), (40, 4)]);
        assert_eq!(jumps(id(1, 15), id(2, 2)), [(30, 3)]);
    }

    #[test]
    fn more_jumps_than_the_owner_keeps_are_noticed() {
        let number = |n: usize| i64::try_from(n).unwrap();
        let log: Vec<_> = (0..KEPT)
            .map(|n| logged(number(n) + 5, id(1, 100 + n as u64)))
            .collect();
        assert!(between(&log, (id(1, 50), id(1, 900))).is_cut);
        assert!(!between(&log, (id(1, 101), id(1, 900))).is_cut);
    }

    #[test]
    fn a_jump_survives_being_numbers() {
        let jump = logged(3, id(7, 8));
        assert_eq!(LoggedJump::all(&jump.numbers()), [jump]);
    }
}
