//! Findings as sentences: what is wrong, and what to do.

use timeloom_doctor::{Finding, MIN_OPEN_FILES, Vendor, WANTED_RECEIVE_BUFFER};
use timeloom_node::Severity;

use crate::live::mismatch_text;
use crate::outcome::Outcome;
use timeloom_text::{counted, duration, grouped};

/// Problems and advice, as sentences.
pub(super) struct Sentences {
    pub(super) problems: Vec<String>,
    pub(super) advice: Vec<String>,
}

impl Sentences {
    pub(super) fn new(findings: &[Finding]) -> Self {
        let (problems, advice): (Vec<_>, Vec<_>) = findings
            .iter()
            .partition(|finding| finding.severity() >= Severity::Error);
        let texts = |findings: Vec<&Finding>| findings.into_iter().map(sentence).collect();
        Self {
            problems: texts(problems),
            advice: texts(advice),
        }
    }

    pub(super) fn outcome(&self) -> Outcome {
        if self.problems.is_empty() {
            Outcome::Done
        } else {
            Outcome::ProblemFound
        }
    }

    /// The lines at the end of a report; `remedy` is the command that repairs it.
    pub(super) fn lines(&self, remedy: Option<&str>) -> String {
        let advice = self.advice.iter().map(|text| format!("Advice: {text}\n"));
        let problems = self.problems.iter();
        let problems = problems.map(|text| format!("Problem: {text}\n"));
        let remedy = remedy.map(|text| format!("Remedy: {text}\n"));
        let none = self.problems.is_empty();
        let none = none.then(|| "No problem found\n".to_owned());
        advice.chain(problems).chain(remedy).chain(none).collect()
    }
}

/// The number of participants of a vendor, such as `2 Cyclone DDS`.
pub(super) fn participants(vendor: Vendor, count: u64) -> String {
    match vendor {
        Vendor::Cyclone => format!("{count} Cyclone DDS"),
        Vendor::FastDds => format!("{count} Fast DDS"),
        Vendor::Connext => format!("{count} Connext"),
        _ => counted(count, "other"),
    }
}

fn sentence(finding: &Finding) -> String {
    machine(finding)
        .or_else(|| network(finding))
        .or_else(|| graph(finding))
        .or_else(|| bag(finding))
        .or_else(|| time(finding))
        .unwrap_or_else(|| format!("{finding:?}"))
}

fn machine(finding: &Finding) -> Option<String> {
    Some(match finding {
        Finding::ClockNeverSet => {
            "the clock was never set: every stamp will be wrong; run `sudo timedatectl set-ntp true`".into()
        }
        Finding::SlowClockSource { source } => format!(
            "the kernel reads the time from {source}, which is slow: boot with `clocksource=tsc tsc=reliable` if the \
             processor's counter is steady"
        ),
        Finding::HostClock(text) => text.clone(),
        Finding::LittleMemory => {
            "little memory is left: record with `--max-cache-size 20000000`".into()
        }
        Finding::LittleDisk => {
            "little space is left here: record elsewhere, or with `--min-free-space` so that it ends in time".into()
        }
        Finding::FewOpenFiles => {
            format!("few files may be open: run `ulimit -n {MIN_OPEN_FILES}`")
        }
        Finding::SmallReceiveBuffers => format!(
            "receive buffers are limited: large messages on best effort may be lost; run `sudo sysctl -w \
             net.core.rmem_max={WANTED_RECEIVE_BUFFER}`"
        ),
        Finding::Environment(note) => note.to_string(),
        _ => return None,
    })
}

fn network(finding: &Finding) -> Option<String> {
    Some(match finding {
        Finding::NoMulticast { interfaces } => format!(
            "no interface has multicast ({}): other machines and containers are not found; name them in \
             ROS_STATIC_PEERS, or set ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST if there are none",
            interfaces.join(", ")
        ),
        Finding::OnlyThisMachine => {
            "only this machine is reached: no other interface is up with an address".into()
        }
        Finding::SeveralInterfaces { interfaces } => format!(
            "{} interfaces lead to other machines ({}), and Cyclone DDS uses only one of them: if peers are missing, \
             name the robot's interfaces with General/Interfaces in CYCLONEDDS_URI",
            interfaces.len(),
            interfaces.join(", ")
        ),
        Finding::NotJoined(text) | Finding::Transport(text) => text.clone(),
        _ => return None,
    })
}

fn graph(finding: &Finding) -> Option<String> {
    Some(match finding {
        Finding::SeveralClocks { nodes } => format!(
            "/clock: {} nodes publish it ({}), so time jumps back and forth: stop all but one",
            nodes.len(),
            nodes.join(", ")
        ),
        Finding::ClockWithoutPublisher { waiting } => format!(
            "/clock: no node publishes it, so the time of {} stands still: start a simulator or `timeloom play \
             --clock`, or set use_sim_time to false",
            waiting.join(", ")
        ),
        Finding::DuplicateNodeName { name, count } => {
            format!("{count} nodes have the name {name}: give each its own")
        }
        Finding::SeveralServers {
            service,
            nodes,
            mixed_vendors,
        } => {
            let why = if *mixed_vendors {
                "of two vendors, which do not understand each other's requests"
            } else {
                "so that each call has several answers"
            };
            let (count, nodes) = (nodes.len(), nodes.join(", "));
            format!("{service}: {count} nodes answer it ({nodes}), {why}: stop all but one")
        }
        Finding::DefinitionsDiffer {
            topic,
            type_name,
            nodes,
        } => {
            let groups: Vec<String> = nodes.iter().map(|nodes| nodes.join(" and ")).collect();
            format!(
                "{topic}: {} have different definitions of {type_name}: build them against the same one",
                groups.join(", ")
            )
        }
        Finding::Mismatch { topic, mismatch } => format!("{topic}: {}", mismatch_text(mismatch)),
        _ => return None,
    })
}

fn bag(finding: &Finding) -> Option<String> {
    Some(match finding {
        Finding::Damage(text) | Finding::Incompatible(text) => text.clone(),
        Finding::CountDiffers {
            topic,
            claimed,
            read,
        } => format!(
            "{topic}: the bag claims {} and {} could be read",
            counted(*claimed, "message"),
            grouped(*read)
        ),
        Finding::Lost { name, statistics } => format!(
            "{name}: {} of {} messages were lost while recording ({} in transport, {} in the recorder)",
            grouped(statistics.messages_lost()),
            grouped(statistics.messages_published()),
            grouped(statistics.messages_lost_in_transport),
            grouped(statistics.messages_lost_in_recorder())
        ),
        Finding::Undecodable {
            topic,
            undecoded,
            messages,
            reason,
        } => format!(
            "{topic}: {} of {} cannot be decoded: {reason}",
            grouped(*undecoded),
            counted(*messages, "message")
        ),
        Finding::NoQos { topic } => format!(
            "{topic}: the bag does not say its QoS, so it is played with the default one"
        ),
        Finding::StaticTransformsMissing => {
            "the bag has /tf and not /tf_static: frames that never move are missing, record both".into()
        }
        Finding::Empty => "the bag has no messages: were the topics published while it was recorded? `timeloom doctor \
             net` finds out whether QoS or the network kept them away"
            .into(),
        _ => return None,
    })
}

fn time(finding: &Finding) -> Option<String> {
    Some(match finding {
        Finding::Silence {
            topic,
            length_ns,
            offset_ns,
            period_ns,
        } => format!(
            "{topic}: silent for {} from +{:.1}s, where a message came every {}",
            duration(*length_ns),
            *offset_ns as f64 / 1e9,
            duration(*period_ns)
        ),
        Finding::ReceivedBeforePublished {
            topic,
            early,
            messages,
            most_ns,
        } => format!(
            "{topic}: {early} of {messages} messages were received before they were sent (by up to {}): the clocks of \
             sender and recorder differ, synchronise them with chrony or PTP",
            duration(*most_ns)
        ),
        Finding::StampUnset {
            topic,
            unset,
            stamped,
        } => format!(
            "{topic}: {unset} of {stamped} messages have no time in header.stamp: the driver must set it"
        ),
        Finding::StampFarOff { topic, nearest_ns } => format!(
            "{topic}: header.stamp is never nearer than {} to the reception: another epoch or an unset clock, see \
             `timeloom sync retime --help`",
            duration(*nearest_ns)
        ),
        Finding::StampAhead {
            topic,
            ahead,
            stamped,
            tolerance_ns,
        } => format!(
            "{topic}: {ahead} of {stamped} messages are stamped more than {} after they were received: the sender's \
             clock is ahead",
            duration(*tolerance_ns)
        ),
        Finding::StampGoesBack { topic, times } => format!(
            "{topic}: header.stamp goes back {times} times: two publishers, a clock that was set, or a loop"
        ),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_and_advice_are_sentences_with_a_remedy() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let findings = [
            Finding::SeveralServers {
                service: "/add".into(),
                nodes: names(&["/n1", "/n2"]),
                mixed_vendors: false,
            },
            Finding::DefinitionsDiffer {
                topic: "/scan".into(),
                type_name: "a/msg/A".into(),
                nodes: vec![names(&["/n1", "/n2"]), names(&["/n3"])],
            },
            Finding::Silence {
                topic: "/imu".into(),
                length_ns: 3_010_000_000,
                offset_ns: 1_490_000_000,
                period_ns: 10_000_000,
            },
        ];
        let sentences = Sentences::new(&findings);
        assert_eq!(
            sentences.lines(Some("`timeloom recover bag`")),
            "Advice: /imu: silent for 3.01 s from +1.5s, where a message came every 10.0 ms\n\
             Problem: /add: 2 nodes answer it (/n1, /n2), so that each call has several answers: stop all but one\n\
             Problem: /scan: /n1 and /n2, /n3 have different definitions of a/msg/A: build them against the same one\n\
             Remedy: `timeloom recover bag`\n"
        );
        assert_eq!(Sentences::new(&[]).lines(None), "No problem found\n");
    }
}
