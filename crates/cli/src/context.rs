//! Shared state of the verbs: output, bags, clock, ROS arguments.

use jiff::tz::TimeZone;
use timeloom_node::{Names, NodeOptions, RosArguments};
use timeloom_time::{Clock, Steady};

use crate::bags::Bags;
use crate::failure::Failure;
use crate::log_level::LogLevel;
use crate::printer::{ColorChoice, Printer};
use crate::progress::Progress;

/// Output, bags, clock and ROS arguments of a verb.
pub(crate) struct Context {
    pub(crate) printer: Printer,
    /// Every bag that is read is opened here.
    pub(crate) bags: Bags,
    clock: Clock<Steady>,
    ros: RosArguments,
}

impl Context {
    pub(crate) fn new(color: ColorChoice, ros: RosArguments) -> Self {
        let (printer, clock) = (Printer::new(color), Clock::new());
        Self {
            bags: Bags::new(printer.shows_progress(), clock.clone()),
            printer,
            clock,
            ros,
        }
    }

    /// The arguments of `--ros-args`.
    pub(crate) fn ros(&self) -> &RosArguments {
        &self.ros
    }

    /// The options of the verb's node with those of `--ros-args`; also sets the log level of the printer.
    pub(crate) fn node(&mut self, options: NodeOptions) -> anyhow::Result<NodeOptions> {
        self.node_with_files(options, [])
    }

    /// The same with parameter files that count less than `--ros-args`; of two files, the last counts.
    pub(crate) fn node_with_files(
        &mut self,
        options: NodeOptions,
        files: impl IntoIterator<Item = String>,
    ) -> anyhow::Result<NodeOptions> {
        let ros = self.ros.above_files(files);
        let options = ros.options(options, |path| std::fs::read_to_string(path));
        let options = options.map_err(|error| Failure::usage(error.to_string()))?;
        self.printer.set_level(match self.ros.console() {
            Some(false) => LogLevel::Fatal,
            _ => options.log_level.into(),
        });
        for unused in self.ros.unused() {
            let text = format!("--ros-args {unused} has no effect: there are no log files");
            self.printer.aside(&text);
        }
        let node = Names::new(&options)?.node().full();
        self.printer.debug(&format!("node {node}"));
        for (name, value) in &options.parameters {
            self.printer.debug(&format!("parameter {name}: {value}"));
        }
        Ok(options)
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
