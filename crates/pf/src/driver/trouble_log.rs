use timeloom_time::{Duration, Steady, Time};

/// The least time from one line of a kind to the next.
const INTERVAL: Duration = Duration::from_secs(10);

/// Kinds of problems with data, which can occur many times per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    /// An invalid packet.
    Packet,
    /// Bytes of a stream that belong to no packet.
    Stream,
}

/// Rate limit for log lines of one kind of problem; suppressed lines are counted in the next line.
#[derive(Debug, Default)]
pub(super) struct TroubleLog {
    packet: Told,
    stream: Told,
}

#[derive(Debug, Default)]
struct Told {
    at: Option<Time<Steady>>,
    left_out: u64,
}

impl TroubleLog {
    /// The line to write now; none if there was one a moment ago.
    pub(super) fn line(
        &mut self,
        trouble: Trouble,
        text: &str,
        now: Time<Steady>,
    ) -> Option<String> {
        let reported = match trouble {
            Trouble::Packet => &mut self.packet,
            Trouble::Stream => &mut self.stream,
        };
        if reported.at.is_some_and(|at| now - at < INTERVAL) {
            reported.left_out += 1;
            return None;
        }
        reported.at = Some(now);
        Some(match std::mem::take(&mut reported.left_out) {
            0 => text.to_owned(),
            left_out => format!("{text} ({left_out} more of this kind since the last line)"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trouble_is_reported_at_once_and_then_every_ten_seconds_with_its_count() {
        let mut log = TroubleLog::default();
        let at = |seconds: i64| Time::from_nanos(seconds * 1_000_000_000);
        let mut lines = Vec::new();
        for second in 0..25 {
            let text = format!("damage {second}");
            lines.extend(log.line(Trouble::Packet, &text, at(second)));
        }
        let more = "(9 more of this kind since the last line)";
        assert_eq!(
            lines,
            [
                "damage 0".to_owned(),
                format!("damage 10 {more}"),
                format!("damage 20 {more}")
            ]
        );
        assert!(log.line(Trouble::Stream, "other", at(25)).is_some());
    }
}
