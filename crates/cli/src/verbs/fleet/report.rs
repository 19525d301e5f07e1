//! The answers of a fleet as a table, as JSON, and what is wrong with them.

use serde_json::json;
use timeloom_node::Result;
use timeloom_node::fleet::{FleetAnswer, FleetCommand, FleetRecorder, FleetStatus};
use timeloom_text::{Table, elapsed, grouped, size};
use timeloom_time::Duration;

/// A recorder and its answer.
pub(super) type Row<'a> = (&'a FleetRecorder, &'a Result<FleetAnswer>);

/// One line for each recorder.
pub(super) fn table(rows: &[Row<'_>]) -> String {
    let heads = [
        "recorder", "node", "state", "recorded", "lost", "left out", "unknown", "for", "free",
        "clock", "bag",
    ];
    let mut table = Table::new("", &heads);
    for (recorder, answer) in rows {
        let mut cells = vec![recorder.identity.clone()];
        match answer {
            Ok(answer) => cells.extend(cells_of(&answer.status)),
            Err(_) => cells.extend([recorder.node.clone(), "no answer".to_owned()]),
        }
        table.row(cells);
    }
    table.text()
}

fn cells_of(status: &FleetStatus) -> [String; 10] {
    let open = if status.unknown_is_open { "+" } else { "" };
    [
        status.node.clone(),
        status.phase_name().to_owned(),
        grouped(status.recorded),
        grouped(status.lost()),
        grouped(status.left_out),
        format!("{}{open}", grouped(status.unknown)),
        elapsed(
            Duration::try_from_secs_f64(status.elapsed_s)
                .unwrap_or_default()
                .nanos(),
        ),
        status.disk_available.map_or("?".to_owned(), size),
        clock(status),
        status.bag.clone(),
    ]
}

/// The state of the host clock in a few words.
fn clock(status: &FleetStatus) -> String {
    if status.clock_source.is_empty() {
        return "not known".into();
    }
    if !status.clock_synchronised {
        return format!("not synchronised ({})", status.clock_source);
    }
    match status.clock_error_ns {
        Some(error) => format!("{} ±{:.1} µs", status.clock_source, error as f64 / 1e3),
        None => status.clock_source.clone(),
    }
}

/// A recorder as one object; `error` says why it has no status, `refused` why it did not execute the command.
pub(super) fn json((recorder, answer): &Row<'_>) -> serde_json::Value {
    let mut object = json!({
        "fleet": recorder.fleet, "recorder": recorder.identity, "node": recorder.node,
        "refused": null, "error": null, "status": null,
    });
    match answer {
        Ok(answer) => {
            object["refused"] = json!(answer.refused);
            object["status"] = status_json(&answer.status);
        }
        Err(error) => object["error"] = json!(error.to_string()),
    }
    object
}

fn status_json(status: &FleetStatus) -> serde_json::Value {
    json!({
        "host": status.host, "process": status.process, "version": status.version,
        "phase": status.phase_name(), "bag": status.bag, "files": status.files,
        "elapsed_s": status.elapsed_s, "bytes": status.bytes, "recorded": status.recorded,
        "lost_in_transport": status.lost_in_transport, "lost_in_recorder": status.lost_in_recorder,
        "left_out": status.left_out, "unknown": status.unknown, "unknown_is_open": status.unknown_is_open,
        "queue_bytes": status.queue_bytes, "queue_limit": status.queue_limit,
        "disk_available": status.disk_available,
        "clock": {
            "source": status.clock_source, "synchronised": status.clock_synchronised,
            "error_ns": status.clock_error_ns,
        },
    })
}

/// The recorders that did not answer, or refused.
pub(super) fn problems(rows: &[Row<'_>], command: FleetCommand) -> Vec<String> {
    let problem = |(recorder, answer): &Row<'_>| {
        let identity = &recorder.identity;
        match answer {
            Err(error) => Some(format!("{identity} did not answer: {error}")),
            Ok(answer) => {
                let reason = answer.refused.as_ref()?;
                Some(format!(
                    "{identity} refused to {}: {reason}",
                    command.name()
                ))
            }
        }
    };
    rows.iter().filter_map(problem).collect()
}
