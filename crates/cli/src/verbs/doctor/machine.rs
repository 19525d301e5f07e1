//! `timeloom doctor`: whether this machine is fit to record and to replay.

use clap::Args;
use jiff::Timestamp;
use serde_json::json;
use timeloom_doctor::Machine;
use timeloom_text::grouped;
use timeloom_time::Duration;

use super::text::Sentences;
use crate::context::Context;
use crate::live::LiveArguments;
use crate::outcome::Outcome;
use crate::verbs::info::Format;

/// Report format on the machine.
#[derive(Debug, Args)]
pub(crate) struct MachineArguments {
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

pub(crate) fn run(arguments: &MachineArguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let machine = Machine::read(&LiveArguments::environment()?);
    let sentences = Sentences::new(&machine.check());
    let out = context.printer.data();
    match arguments.format {
        Format::Text => write!(out, "{}{}", text(&machine), sentences.lines(None))?,
        Format::Json => writeln!(out, "{}", json(&machine, &sentences))?,
    }
    Ok(sentences.outcome())
}

fn text(machine: &Machine) -> String {
    let unknown = || "unknown".to_owned();
    let size = |bytes: Option<u64>| {
        bytes.map_or_else(unknown, |bytes| {
            format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
        })
    };
    let number = |number: Option<u64>| number.map_or_else(unknown, grouped);
    let now = Timestamp::from_second(machine.unix_seconds)
        .map_or_else(|_| unknown(), |now| now.to_string());
    format!(
        "Timeloom: {} with {}\nClock: {now}, read from {}, {}\nTAI: {}\nHardware clocks: {}\nMemory: {} available\nDisk: {} free \
         here\nOpen files: at most {}\nReceive buffers: at most {} bytes\n",
        env!("CARGO_PKG_VERSION"),
        features().join(", "),
        machine.clock_source.clone().unwrap_or_else(unknown),
        machine.host_clock,
        match machine.host_clock.tai_offset_s {
            0 => "the kernel does not know the offset to UTC".to_owned(),
            seconds => format!("{seconds} s ahead of UTC"),
        },
        match machine.host_clock.hardware_clocks.as_slice() {
            [] => "none".to_owned(),
            clocks => clocks.join(", "),
        },
        size(machine.memory),
        size(machine.disk),
        number(machine.open_files),
        number(machine.rmem_max),
    )
}

fn json(machine: &Machine, sentences: &Sentences) -> serde_json::Value {
    let clock = &machine.host_clock;
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "features": features(),
        "unix_seconds": machine.unix_seconds,
        "clock_source": machine.clock_source,
        "synchronised_by": clock.is_synchronised().then(|| clock.source()),
        "host_clock": {
            "source": clock.source(),
            "synchronised": clock.is_synchronised(),
            "reference": clock.reference(),
            "offset_ns": clock.offset().map(Duration::nanos),
            "error_ns": clock.error().map(Duration::nanos),
            "tai_offset_s": clock.tai_offset_s,
            "hardware_clocks": clock.hardware_clocks,
        },
        "memory_available": machine.memory,
        "disk_free": machine.disk,
        "open_files": machine.open_files,
        "rmem_max": machine.rmem_max,
        "advice": sentences.advice,
        "problems": sentences.problems,
    })
}

/// The optional parts that this binary was built with.
fn features() -> Vec<&'static str> {
    let mut features = vec!["DDS"];
    if timeloom_transport::HAS_ZENOH {
        features.push("Zenoh");
    }
    if cfg!(feature = "remote") {
        features.push("object storage");
    }
    if cfg!(feature = "query") {
        features.push("SQL");
    }
    features
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_node::host_clock::{Discipline, HostClock};

    #[test]
    fn the_clock_is_shown_with_its_synchronisation() {
        let machine = Machine {
            unix_seconds: 1_794_733_131,
            clock_source: Some("tsc".into()),
            host_clock: HostClock {
                discipline: Discipline::Timesyncd,
                tai_offset_s: 37,
                hardware_clocks: vec!["ptp0 mlx5_ptp".into()],
            },
            ..Machine::default()
        };
        let text = text(&machine);
        assert!(text.contains(
            "Clock: 2026-11-15T08:58:51Z, read from tsc, synchronised by systemd-timesyncd"
        ));
        assert!(text.contains("TAI: 37 s ahead of UTC\nHardware clocks: ptp0 mlx5_ptp\n"));
        assert!(text.contains("Memory: unknown available\n"), "{text}");
    }
}
