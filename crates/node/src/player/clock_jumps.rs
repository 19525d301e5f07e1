//! Jumps forward of a `/clock`, between its owner and those who follow.
//!
//! A sample of `/clock` does not say whether time ran on to it or was moved there: after a stall of its owner every message
//! in between is to be played, after a seek none is. So owners keep a parameter with their last jumps forward, and
//! followers ask for it when a step is larger than the time that has passed explains.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use timeloom_msg::value::{Array, Text};
use timeloom_msg::{QosProfile, Value};
use timeloom_time::Duration;

use crate::{Client, ParameterAccess, ParameterValue, Result, RosNode, ServiceTypes};

/// The parameter: number, from and to of each jump, in nanoseconds, oldest first.
const PARAMETER: &str = "clock_jumps";
/// How many jumps are kept.
const KEPT: usize = 16;
/// How far a clock that extrapolates may have run on from the time that was left.
const SLACK: Duration = Duration::from_millis(100);
/// How long a follower waits for the owner.
const PATIENCE: Duration = Duration::from_secs(2);

/// A jump forward: from and to, in nanoseconds.
pub(super) type ClockJump = (i64, i64);

/// The jumps of an owner.
pub(super) struct JumpList {
    node: RosNode,
    jumps: Mutex<VecDeque<(i64, ClockJump)>>,
}

impl JumpList {
    /// Declares the parameter.
    pub(super) fn new(node: &RosNode) -> Result<Self> {
        let text = "The last jumps forward of /clock: number, from and to of each, in nanoseconds";
        let none = ParameterValue::Integers(Vec::new());
        let access = ParameterAccess::Writable;
        // A publisher that takes the place of another one goes on with its list.
        let known = match node.declare_parameter_with(PARAMETER, none, text, access)? {
            ParameterValue::Integers(numbers) => numbered(&numbers),
            _ => Vec::new(),
        };
        Ok(Self {
            node: node.clone(),
            jumps: Mutex::new(known.into()),
        })
    }

    /// Notes a jump, before `/clock` shows it; what is no jump forward is left out.
    pub(super) fn add(&self, (from, to): ClockJump) {
        if to <= from {
            return;
        }
        let mut jumps = self.jumps.lock().unwrap_or_else(PoisonError::into_inner);
        if jumps.len() >= KEPT {
            jumps.pop_front();
        }
        let number = jumps.back().map_or(1, |(last, _)| last.saturating_add(1));
        jumps.push_back((number, (from, to)));
        let all = jumps.iter();
        let all = all.flat_map(|(number, (from, to))| [*number, *from, *to]);
        let all = all.collect();
        drop(jumps);
        // A guard of the node's user may refuse; then followers play what lies between.
        let _set = self
            .node
            .set_parameter(PARAMETER, ParameterValue::Integers(all));
    }
}

/// Asks the owner of a `/clock` for its jumps.
#[derive(Default)]
pub(super) struct JumpInquiry {
    /// The owner that was asked last; no client if it has no list.
    owner: Option<(String, Option<Client>)>,
    /// The number of the last jump that explained a step: none explains two.
    used: i64,
}

impl JumpInquiry {
    /// The jump of an owner that a step of its `/clock` shows. Blocks for its answer, for a few seconds at most.
    pub(super) fn explain(
        &mut self,
        node: &RosNode,
        owner: &str,
        (from, to): ClockJump,
    ) -> Option<ClockJump> {
        if self.owner.as_ref().is_none_or(|(known, _)| known != owner) {
            // An owner whose service does not answer yet is asked the next time.
            let client = client(node, owner)?;
            self.owner = Some((owner.to_owned(), Some(client)));
            self.used = 0;
        }
        let (_, client) = self.owner.as_mut()?;
        let jumps = client.as_ref().and_then(|client| ask(client).ok())?;
        let Some(jumps) = jumps else {
            *client = None;
            return None;
        };
        // Its samples have both ends exactly; the first one may be lost, or run on from.
        let earliest = from.saturating_sub(SLACK.nanos());
        let jumps = jumps.into_iter().rev();
        let same = jumps.filter(|(number, (left, reached))| {
            *number > self.used && *left >= earliest && *reached == to
        });
        // Several may have gone to this time: after a seek that was repeated, or in laps before.
        let (number, jump) = same.min_by_key(|(_, (left, _))| left.abs_diff(from))?;
        self.used = number;
        Some(jump)
    }
}

fn numbered(numbers: &[i64]) -> Vec<(i64, ClockJump)> {
    let (jumps, _rest) = numbers.as_chunks::<3>();
    let jump = |[number, from, to]: &[i64; 3]| (*number, (*from, *to));
    jumps.iter().map(jump).collect()
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
fn ask(client: &Client) -> Result<Option<Vec<(i64, ClockJump)>>> {
    let mut request = client.request()?;
    let names = Array::String(vec![Text::from(PARAMETER)]);
    request.set("names", Value::Array(names))?;
    let response = client.call(&request, PATIENCE)?;
    let Some(Value::Array(Array::Int64(numbers))) = response.get("values[0].integer_array_value")
    else {
        return Ok(None);
    };
    let jumps = numbered(&numbers);
    let set = response
        .get("values[0].type")
        .and_then(|kind| kind.as_u64());
    Ok(set.filter(|kind| *kind != 0).map(|_| jumps))
}
