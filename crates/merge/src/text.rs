//! The hosts of a merge, for people.

use std::fmt::Write as _;

use timeloom_text::{Table, offset};

use crate::evidence::Evidence;
use crate::hosts::{Host, HostOffset, Hosts};

impl Hosts {
    /// A table of the hosts, and what their bounds rely on.
    pub fn text(&self) -> String {
        let mut table = Table::new(
            "",
            &["host", "add", "at least", "at most", "drift", "evidence"],
        );
        for (place, host) in self.hosts.iter().enumerate() {
            if place == self.reference {
                let cells = [host.name.as_str(), "0", "", "", "", "the timeline"];
                table.row(cells.map(str::to_owned));
            } else {
                table.row(host.cells(self));
            }
        }
        let mut text = table.text();
        for host in &self.hosts {
            for line in host.notes() {
                // Writing to a text never fails.
                let _written = writeln!(text, "{}: {line}", host.name);
            }
        }
        text
    }
}

impl Host {
    fn cells(&self, hosts: &Hosts) -> [String; 6] {
        let middle = self.middle();
        let side = |of: fn(&HostOffset) -> Option<i64>| {
            let bound = middle.and_then(of);
            bound.map_or_else(|| "unknown".to_owned(), offset)
        };
        let reference = hosts.hosts.get(hosts.reference);
        let way = self.by_way_of.as_deref();
        let way = way.filter(|way| reference.is_none_or(|it| it.name != *way));
        let evidence: Vec<String> = self.evidence.iter().map(Evidence::words).collect();
        let evidence = evidence.join("; ");
        [
            self.name.clone(),
            middle.map_or_else(|| "unknown".to_owned(), |middle| offset(middle.offset_ns)),
            side(|offset| offset.lower_ns),
            side(|offset| offset.upper_ns),
            self.drift_ppm()
                .map_or_else(String::new, |ppm| format!("{ppm:+.1} ppm")),
            match way {
                Some(way) => format!("by way of {way}: {evidence}"),
                None => evidence,
            },
        ]
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.assumptions.is_empty() {
            notes.push(format!(
                "the bounds hold if {}; --published-on overrides it",
                self.assumptions.join(", and ")
            ));
        }
        if self.steps > 0 {
            notes.push(format!(
                "a clock was set {} times, or seems to have been",
                self.steps
            ));
        }
        let has_bounds =
            |offset: &HostOffset| (offset.lower_ns.is_some(), offset.upper_ns.is_some());
        match self.middle().map(has_bounds) {
            Some((false, false)) if !self.evidence.is_empty() => notes.push(
                "no bounds: it is not known on which host the messages were published; name it with --published-on"
                    .to_owned(),
            ),
            Some((true, false) | (false, true)) => notes.push(
                "messages went one way only: the offset is off by the delay of the quickest message, which is not known"
                    .to_owned(),
            ),
            _ => {}
        }
        notes
    }
}
