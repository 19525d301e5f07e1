//! What every verb gets besides its arguments.

use jiff::tz::TimeZone;
use timeloom_time::{Clock, Steady};

use crate::bags::Bags;
use crate::printer::{ColorChoice, Printer};
use crate::progress::Progress;

/// The surroundings of a verb: where it prints, which time zone people are in, the clock of the progress line.
pub(crate) struct Context {
    pub(crate) printer: Printer,
    /// Every bag that is read is opened here.
    pub(crate) bags: Bags,
    clock: Clock<Steady>,
}

impl Context {
    pub(crate) fn new(color: ColorChoice) -> Self {
        let (printer, clock) = (Printer::new(color), Clock::new());
        Self {
            bags: Bags::new(printer.shows_progress(), clock.clone()),
            printer,
            clock,
        }
    }

    /// The zone in which people read and write times: `TZ`, else that of the machine.
    pub(crate) fn time_zone() -> TimeZone {
        TimeZone::system()
    }

    /// A progress line on stderr; silent unless that is a terminal.
    pub(crate) fn progress(&self, label: &'static str) -> Progress {
        Progress::new(label, self.printer.shows_progress(), self.clock.clone())
    }
}
