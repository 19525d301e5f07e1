//! The state of the host clock during a recording, as text.

use std::fmt::Write as _;

use jiff::Timestamp;
use timeloom_bag::HostClockRecord;
use timeloom_text::{counted, duration};

/// Steps that are printed; the rest is counted.
const MOST_STEPS: usize = 10;

/// A line of what kept the clock right, and one for each step; nothing if the bag does not say.
pub(super) fn lines(custom_data: &[(String, String)]) -> String {
    let records = HostClockRecord::history(custom_data);
    let mut lines = String::new();
    let Some(last) = records.last() else {
        return lines;
    };
    let looks = counted(records.len() as u64, "look");
    let unsynchronised = records.iter().filter(|record| !record.synchronised);
    let unsynchronised = unsynchronised.count();
    // Writing to a text never fails.
    let _written = write!(lines, "Host clock: {}", words(last));
    if unsynchronised > 0 && last.synchronised {
        let _written = write!(lines, "; not synchronised at {unsynchronised} of {looks}");
    }
    let errors = records.iter().filter_map(|record| record.error_ns);
    if let Some(worst) = errors.max() {
        let _written = write!(lines, "; at most {} off in {looks}", duration(worst));
    }
    lines.push('\n');
    let steps: Vec<(i64, i64)> = records
        .iter()
        .filter_map(|record| Some((record.system_ns, record.step_ns?)))
        .collect();
    for (at, by) in steps.iter().take(MOST_STEPS) {
        let at = Timestamp::from_nanosecond((*at).into()).unwrap_or_default();
        let seconds = *by as f64 * 1e-9;
        let _written = writeln!(lines, "Host clock: set by {seconds:+.6} s at {at}");
    }
    if steps.len() > MOST_STEPS {
        let more = counted((steps.len() - MOST_STEPS) as u64, "time");
        let _written = writeln!(lines, "Host clock: set {more} more");
    }
    lines
}

fn words(record: &HostClockRecord) -> String {
    match (&record.reference, record.synchronised) {
        (Some(reference), true) => format!("synchronised by {} with {reference}", record.source),
        (None, true) => format!("synchronised by {}", record.source),
        (_, false) if record.source == "none" => {
            "not synchronised: no time daemon was found".into()
        }
        (_, false) => format!("not synchronised, though {} ran", record.source),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_bag::HOST_CLOCK_KEY;

    fn text_of(text: &str) -> String {
        lines(&[(HOST_CLOCK_KEY.to_owned(), text.to_owned())])
    }

    #[test]
    fn a_bag_without_a_record_has_no_line() {
        assert_eq!(lines(&[("operator".into(), "ana".into())]), "");
        assert_eq!(text_of("no line"), "");
    }

    #[test]
    fn the_worst_error_and_every_step_are_listed() {
        let text = "system_ns=1794827614000000000 reason=start source=chrony synchronised=false tai_s=37\n\
            system_ns=1794827674000000000 reason=minute source=chrony synchronised=true \
            reference=10.0.0.1_(stratum_2) offset_ns=-5 error_ns=250000 tai_s=37\n\
            system_ns=1794827675000000000 reason=step step_ns=-300000000 source=chrony synchronised=true \
            reference=10.0.0.1_(stratum_2) offset_ns=-5 error_ns=1500 tai_s=37\n";
        assert_eq!(
            text_of(text),
            "Host clock: synchronised by chrony with 10.0.0.1 (stratum 2); not synchronised at 1 of 3 looks; at most \
             250 µs off in 3 looks\nHost clock: set by -0.300000 s at 2026-11-16T11:14:35Z\n"
        );
    }

    #[test]
    fn a_host_without_a_reference_is_reported() {
        let text = "system_ns=1 reason=start source=none synchronised=false tai_s=0\n";
        assert_eq!(
            text_of(text),
            "Host clock: not synchronised: no time daemon was found\n"
        );
    }
}
