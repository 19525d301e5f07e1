//! The place of a publication in time: its host, the epoch of its clock, and its time on the engine's time line.

use super::{ClockDomain, Clocks};
use crate::analysis::names::index;
use crate::moment::Moment;

/// Nodes of one host agree on the difference of ROS and steady time to less than this.
const SAME_HOST: i64 = 100_000_000;
/// ROS time that goes back by more than this has jumped, if there is no steady clock.
const JUMP_BACK: i64 = 1_000_000_000;
/// A real-time clock that moves against the steady clock by this much at once was set.
const STEP: u64 = 50_000_000;
/// Two consecutive readings of a real-time clock agree with the steady clock to this, and to a thousandth of the time
/// between them. Simulated time, which advances in ticks, does not.
const REGULAR: u64 = 1_000_000;
/// Regular readings after which a clock counts as a real-time clock.
const REAL_TIME: u32 = 8;
/// A steady clock that lags behind ROS time by this much more than before was restarted.
const REBOOT: i64 = 30_000_000_000;
/// Clock steps that are kept.
const MOST_STEPS: usize = 256;

/// The place of a publication in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Placed {
    pub(in super::super) domain: u32,
    pub(in super::super) epoch: u32,
    /// The time of publication on the engine's time line, which orders the messages of a topic.
    pub(in super::super) order: i64,
    /// Its delay compared to the quickest message of its host.
    pub(in super::super) late: i64,
}

/// A clock that was set while the steady clock continued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Step {
    pub(in super::super) domain: u32,
    pub(in super::super) by: i64,
    /// By the steady clock of the host.
    steady: i64,
    /// The epoch that began.
    epoch: u32,
    /// Whether ROS time went back by more than [`JUMP_BACK`].
    pub(in super::super) is_jump: bool,
}

#[derive(Debug, Default)]
pub(super) struct Domain {
    pub(super) name: String,
    pub(super) offset: Option<i64>,
    pub(super) bound: Option<i64>,
    /// The newest reading of both clocks, by the steady one.
    newest: Option<Moment>,
    /// ROS minus steady time of it.
    difference: Option<i64>,
    /// Engine time minus its steady time: independent of ROS time, if tags arrive without delay.
    arrival: Option<i64>,
    /// Engine time minus steady time at the first message of the host; fixed, so that its messages stay in order.
    base: Option<i64>,
    /// The smallest value of engine time minus steady time.
    least: Option<i64>,
    /// Engine time minus ROS time at the start of the epoch, if there is no steady clock.
    ros_base: Option<i64>,
    /// Number of consecutive readings that show a real-time clock.
    regular: u32,
    latest_ros: i64,
    pub(super) epoch: u32,
}

impl Domain {
    pub(super) fn new(name: String) -> Self {
        Self {
            name,
            ..Self::default()
        }
    }
}

impl Clocks {
    /// The position in time of a publication of a node that arrived at `now`; `key` is a unique number of the node.
    pub(in super::super) fn place(&mut self, key: u32, node: &str, at: Moment, now: i64) -> Placed {
        let known = self.of_node.get(&key).copied();
        let known = known.filter(|domain| !self.is_rebooted(*domain, at));
        let domain = known.unwrap_or_else(|| {
            let domain = self.domain_of(node, at, now);
            self.of_node.insert(key, domain);
            domain
        });
        if at.steady.is_zero() {
            self.place_by_ros(domain, at, now)
        } else {
            self.place_by_steady(domain, at, now)
        }
    }

    /// Whether the steady clock of an undeclared host restarted: then it is another clock.
    fn is_rebooted(&self, domain: u32, at: Moment) -> bool {
        let state = self.domains.get(index(domain));
        let state = state.filter(|_| index(domain) >= self.declared.len());
        let newest = state.and_then(|state| state.newest);
        newest.is_some_and(|newest| {
            let read = !at.steady.is_zero() && !at.ros.is_zero() && !newest.ros.is_zero();
            let ros = at.ros.nanos().saturating_sub(newest.ros.nanos());
            let steady = at.steady.nanos().saturating_sub(newest.steady.nanos());
            read && steady < 0 && ros > 0 && ros.saturating_sub(steady) > REBOOT
        })
    }

    /// The steady clock distinguishes a late tag from a clock that was set.
    fn place_by_steady(&mut self, domain: u32, at: Moment, now: i64) -> Placed {
        let (ros, steady) = (at.ros.nanos(), at.steady.nanos());
        let arrival = now.saturating_sub(steady);
        let newest = self.domains.get(index(domain)).and_then(|it| it.newest);
        let is_late = newest.is_some_and(|newest| at.steady < newest.steady);
        let mut set_by = None;
        if let Some(newest) = newest.filter(|newest| !is_late && ros != 0 && !newest.ros.is_zero())
        {
            set_by = self.check_step(domain, newest, at);
        }
        if let Some((by, is_jump)) = set_by {
            self.start_epoch(domain);
            self.jumps += u64::from(is_jump);
            let epoch = self.domains.get(index(domain)).map_or(0, |it| it.epoch);
            if self.steps.len() >= MOST_STEPS {
                self.steps.remove(0);
            }
            self.steps.push(Step {
                domain,
                by,
                steady,
                epoch,
                is_jump,
            });
        }
        let epoch_then = is_late.then(|| self.epoch_at(domain, steady));
        let Some(state) = self.domains.get_mut(index(domain)) else {
            return Placed {
                domain,
                epoch: 0,
                order: now,
                late: 0,
            };
        };
        let base = *state.base.get_or_insert(arrival);
        let least = state.least.map_or(arrival, |least| least.min(arrival));
        state.least = Some(least);
        if !is_late {
            state.newest = Some(at);
            state.difference = Some(ros.saturating_sub(steady));
            state.arrival = Some(arrival);
            state.latest_ros = if ros == 0 { state.latest_ros } else { ros };
        }
        Placed {
            domain,
            epoch: epoch_then.unwrap_or(state.epoch),
            order: steady.saturating_add(base),
            late: arrival.saturating_sub(least),
        }
    }

    /// The step of the clock between two readings, and whether it counts as a jump back; `None` if there was none.
    fn check_step(&mut self, domain: u32, newest: Moment, at: Moment) -> Option<(i64, bool)> {
        let ros = (at.ros - newest.ros).nanos();
        let steady = (at.steady - newest.steady).nanos();
        let by = ros.saturating_sub(steady);
        if ros < -JUMP_BACK {
            return Some((by, true));
        }
        let state = self.domains.get_mut(index(domain))?;
        if by.unsigned_abs() > STEP && state.regular >= REAL_TIME {
            return Some((by, false));
        }
        if by.unsigned_abs() <= REGULAR.max(steady.unsigned_abs() / 1000) {
            state.regular = state.regular.saturating_add(1).min(2 * REAL_TIME);
        } else {
            state.regular = state.regular.saturating_sub(4);
        }
        None
    }

    /// The epoch of a host at a time of its steady clock.
    fn epoch_at(&self, domain: u32, steady: i64) -> u32 {
        let later = self.steps.iter();
        let mut later = later.filter(|step| step.domain == domain && step.steady > steady);
        let current = self.domains.get(index(domain)).map_or(0, |it| it.epoch);
        later.next().map_or(current, |step| step.epoch - 1)
    }

    fn place_by_ros(&mut self, domain: u32, at: Moment, now: i64) -> Placed {
        let ros = at.ros.nanos();
        let jumped = self.domains.get(index(domain)).is_some_and(|state| {
            // With a steady clock, the readings that have it show jumps.
            ros != 0 && state.newest.is_none() && ros < state.latest_ros.saturating_sub(JUMP_BACK)
        });
        if jumped {
            self.start_epoch(domain);
            self.jumps += 1;
        }
        let Some(state) = self.domains.get_mut(index(domain)) else {
            return Placed {
                domain,
                epoch: 0,
                order: now,
                late: 0,
            };
        };
        let mut placed = Placed {
            domain,
            epoch: state.epoch,
            order: now,
            late: 0,
        };
        if ros == 0 {
            return placed;
        }
        let arrival = now.saturating_sub(ros);
        let base = match (state.newest, state.base) {
            (Some(newest), Some(base)) if !newest.ros.is_zero() => {
                let order = newest.steady.nanos().saturating_add(base);
                order.saturating_sub(newest.ros.nanos())
            }
            _ => *state.ros_base.get_or_insert(arrival),
        };
        if jumped {
            state.latest_ros = ros;
        }
        state.latest_ros = state.latest_ros.max(ros);
        placed.order = ros.saturating_add(base);
        placed
    }

    /// Comparisons and counts from before do not apply to the clock now.
    fn start_epoch(&mut self, domain: u32) {
        self.least
            .retain(|(from, to), _| *from != domain && *to != domain);
        if let Some(state) = self.domains.get_mut(index(domain)) {
            state.epoch += 1;
            state.ros_base = None;
        }
    }

    /// The declared host of a node, else one whose clocks agree with it, else a new one.
    fn domain_of(&mut self, node: &str, at: Moment, now: i64) -> u32 {
        // Of the names that a node begins with, the longest counts: `/camera` is not on the host of `/cam`.
        let longest = |domain: &ClockDomain| {
            let starts = domain.nodes.iter().filter(|start| node.starts_with(*start));
            starts.map(String::len).max()
        };
        let declared = self.declared.iter().enumerate();
        let declared = declared.filter_map(|(place, domain)| Some((place, longest(domain)?)));
        // The first of equal ones.
        let declared = declared.rev().max_by_key(|(_, length)| *length);
        let declared = declared.map(|(place, _)| place);
        let difference = at.ros.nanos().saturating_sub(at.steady.nanos());
        let arrival = now.saturating_sub(at.steady.nanos());
        let near = |known: Option<i64>, other: i64| {
            known.is_none_or(|known| known.abs_diff(other) <= SAME_HOST.unsigned_abs())
        };
        // ROS time distinguishes hosts exactly while it runs at real time; otherwise the arrival of tags does.
        let agrees = |domain: &Domain| {
            at.steady.is_zero()
                || near(domain.difference, difference)
                || near(domain.arrival, arrival)
        };
        let undeclared = self.declared.len();
        let found = declared.or_else(|| {
            let mut others = self.domains.iter().enumerate().skip(undeclared);
            others
                .find(|(_, domain)| agrees(domain))
                .map(|(place, _)| place)
        });
        let place = found.unwrap_or_else(|| {
            let number = self.domains.len() - undeclared + 1;
            self.domains.push(Domain::new(format!("host {number}")));
            self.domains.len() - 1
        });
        u32::try_from(place).unwrap_or(0)
    }
}
