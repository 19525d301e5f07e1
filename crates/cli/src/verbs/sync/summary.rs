//! Summary of a fit, in constant memory.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use timeloom_sync::{
    Calibration, ConstantDelay, EventKind, Health, LimitReached, Mapped, Sample, SyncEvent,
};
use timeloom_text::{counted, duration, grouped};
use timeloom_trace::Histogram;

use timeloom_time::{Steady, Time};

/// Limit for events that are listed one by one.
const MOST_EVENTS: usize = 20;

/// The account of a fit.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    passive: u64,
    active: u64,
    first_rx: Option<i64>,
    last_rx: i64,
    delay: Histogram,
    sigma: Histogram,
    width: Histogram,
    above: Histogram,
    health: BTreeMap<&'static str, u64>,
    epochs: Vec<Epoch>,
    epoch_count: u64,
    last: Option<Mapped>,
    events: Vec<(f64, String)>,
    more_events: u64,
    resets: u64,
    calibration: Calibration,
    /// Bounds of the constant error of the newest rows, in nanoseconds: host minus truth.
    bias: (Option<i64>, Option<i64>),
    /// Limits that were exceeded, each with its newest report.
    limits: Vec<LimitReached>,
}

/// One epoch, from its first to its last row.
#[derive(Debug, Clone, Copy)]
struct Epoch {
    number: u32,
    rows: u64,
    first: Point,
    /// Where the last minute begins; slopes are taken from there.
    recent: Point,
    candidate: Point,
    last: Point,
}

#[derive(Debug, Clone, Copy)]
struct Point {
    device: i64,
    offset: i64,
}

/// Rows that have looser bounds than those before change the bounds of the bias by one in so many parts.
const BIAS_MEMORY: i64 = 1_000;
/// The drift is that of the last minute or two.
const RECENT: i64 = 60_000_000_000;
/// Epochs beyond these are counted only.
const MOST_EPOCHS: usize = 1_000;

impl Point {
    /// The slope to a later point, in ppm.
    fn ppm_to(self, later: Self) -> Option<f64> {
        let seconds = later.device.checked_sub(self.device)? as f64 * 1e-9;
        let nanos = later.offset.checked_sub(self.offset)? as f64;
        (seconds >= 1.0).then_some(nanos / seconds * 1e-3)
    }
}

impl Summary {
    /// Records the arrival of a sample; its row may follow much later.
    pub(crate) fn arrived(&mut self, sample: &Sample) {
        self.first_rx.get_or_insert(sample.host_rx().nanos());
    }

    /// Adds a row.
    pub(crate) fn add(&mut self, sample: &Sample, mapped: &Mapped) {
        match sample {
            Sample::Passive(_) => self.passive += 1,
            Sample::Active(_) => self.active += 1,
        }
        let rx = sample.host_rx().nanos();
        self.arrived(sample);
        self.calibration.take(sample, mapped, None);
        self.last_rx = self.last_rx.max(rx);
        *self.health.entry(mapped.health.name()).or_default() += 1;
        let host = mapped.host.nanos();
        if matches!(sample, Sample::Passive(_)) {
            add(&mut self.delay, rx.saturating_sub(host));
        }
        if mapped.health == Health::Locked {
            self.note_bias(mapped);
        }
        if mapped.health != Health::Unsynced {
            add(&mut self.sigma, mapped.sigma.nanos());
            if let Some(width) = mapped.bounds.width() {
                add(&mut self.width, width.nanos());
            }
            if let Some(upper) = mapped.bounds.upper {
                add(&mut self.above, upper.nanos().saturating_sub(host));
            }
        }
        self.add_to_epoch(sample, mapped);
        self.last = Some(*mapped);
    }

    /// A constant error lies within the bounds of every row; those of the newest rows count most.
    fn note_bias(&mut self, mapped: &Mapped) {
        let host = mapped.host.nanos();
        let early = mapped
            .bounds
            .upper
            .map(|upper| host.saturating_sub(upper.nanos()));
        let late = mapped
            .bounds
            .lower
            .map(|lower| host.saturating_sub(lower.nanos()));
        // A row that is worse than those before counts for less and less.
        let tighter = |old: Option<i64>, new: Option<i64>| match (old, new) {
            (Some(old), Some(new)) if old.abs() < new.abs() => {
                Some(old.saturating_add(new.saturating_sub(old) / BIAS_MEMORY))
            }
            (old, new) => new.or(old),
        };
        self.bias = (tighter(self.bias.0, early), tighter(self.bias.1, late));
    }

    fn add_to_epoch(&mut self, sample: &Sample, mapped: &Mapped) {
        let device = sample.device().nanos();
        let point = Point {
            device,
            offset: mapped.host.nanos().saturating_sub(device),
        };
        let is_new = self.last.is_none_or(|last| last.epoch != mapped.epoch);
        self.epoch_count += u64::from(is_new);
        if is_new && self.epochs.len() < MOST_EPOCHS {
            self.epochs.push(Epoch {
                number: mapped.epoch,
                rows: 0,
                first: point,
                recent: point,
                candidate: point,
                last: point,
            });
        }
        let current = self.epochs.last_mut();
        let Some(epoch) = current.filter(|epoch| epoch.number == mapped.epoch) else {
            return;
        };
        epoch.rows += 1;
        if device <= epoch.last.device {
            return;
        }
        epoch.last = point;
        if device.saturating_sub(epoch.candidate.device) > RECENT {
            epoch.recent = epoch.candidate;
            epoch.candidate = point;
        }
    }

    /// Adds an event of the live view.
    pub(crate) fn event(&mut self, event: &SyncEvent) {
        let text = match event.kind {
            EventKind::NewEpoch { epoch, reason } => {
                self.resets += 1;
                format!("epoch {epoch} begins: {reason}")
            }
            EventKind::PathShift { extra } => {
                format!(
                    "the path is {} longer than at its best, or a clock was set by that",
                    duration(extra.nanos())
                )
            }
            EventKind::Gap { silence } => format!("no samples for {:.3} s", silence.as_secs_f64()),
            EventKind::Outliers { count } => {
                format!("{} dropped", counted(u64::from(count), "outlier"))
            }
            EventKind::RateChange => {
                "the clock rate changed at once: a clock is being slewed".to_owned()
            }
            EventKind::LimitReached(reached) => {
                self.limits.retain(|before| before.limit != reached.limit);
                self.limits.push(reached);
                reached.to_string()
            }
            _ => return,
        };
        self.add_event(event.host_rx.nanos(), text);
    }

    /// Counts an event that a sample caused.
    pub(crate) fn add_event(&mut self, host_rx: i64, text: String) {
        let first = self.first_rx.unwrap_or(host_rx);
        let at = host_rx.saturating_sub(first) as f64 * 1e-9;
        if self.events.len() < MOST_EVENTS {
            self.events.push((at, text));
        } else {
            self.more_events += 1;
        }
    }

    fn samples(&self) -> u64 {
        self.passive + self.active
    }

    fn seconds(&self) -> f64 {
        let first = self.first_rx.unwrap_or(self.last_rx);
        self.last_rx.saturating_sub(first) as f64 * 1e-9
    }

    /// The summary as text.
    pub(crate) fn text(&self, estimator: &str) -> String {
        let mut lines = vec![
            ("samples", self.samples_text()),
            ("estimator", estimator.to_owned()),
        ];
        if let Some(epoch) = self.epochs.last() {
            let offset = epoch.last.offset as f64 * 1e-9;
            lines.push((
                "offset",
                format!("{offset:.9} s, host minus device at the end"),
            ));
            lines.push(("drift", drift_text(epoch)));
        }
        if self.delay.count() > 0 {
            let [p50, p99, most] = quantiles(&self.delay).map(duration);
            let text = format!("p50 {p50}, p99 {p99}, most {most} behind the estimate");
            lines.push(("jitter", text));
        }
        if self.sigma.count() > 0 {
            let [p50, p99, _] = quantiles(&self.sigma).map(duration);
            let text = format!("p50 {p50}, p99 {p99}: sigma, the error that varies");
            lines.push(("spread", text));
        }
        lines.push(("bias", self.bias_text()));
        lines.push(("bound", self.bound_text()));
        if let Some(text) = self.delay_text() {
            lines.push(("delay", text));
        }
        lines.push(("health", self.health_text()));
        lines.push(("epochs", grouped(self.epoch_count)));
        lines.push(("resets", grouped(self.resets)));
        for (at, text) in &self.events {
            lines.push(("", format!("at {at:.1} s: {text}")));
        }
        if self.more_events > 0 {
            lines.push(("", format!("and {} more", grouped(self.more_events))));
        }
        let lines = lines.iter().map(|(name, text)| format!("{name:10} {text}"));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn samples_text(&self) -> String {
        let seconds = self.seconds();
        let rate = if seconds > 0.0 {
            format!(", {:.1} per second", self.samples() as f64 / seconds)
        } else {
            String::new()
        };
        format!(
            "{} ({} passive, {} active) in {seconds:.1} s{rate}",
            grouped(self.samples()),
            grouped(self.passive),
            grouped(self.active)
        )
    }

    fn bias_text(&self) -> String {
        match self.bias {
            (Some(early), Some(late)) => format!(
                "{} to {}: the error that is constant",
                duration(early.min(0)),
                signed(late.max(0))
            ),
            (Some(early), None) => format!(
                "{} or more: only requests show how late it can be",
                duration(early.min(0))
            ),
            _ => "unknown".into(),
        }
    }

    fn delay_text(&self) -> Option<String> {
        let found = self.calibration.by_requests()?;
        let [delay, least, most] =
            [found.delay, found.least, found.most].map(timeloom_time::Duration::nanos);
        Some(format!(
            "{} at least for a packet, between {} and {}; as a flag: --least-delay {:.1}",
            duration(delay),
            duration(least),
            duration(most),
            delay as f64 * 1e-3
        ))
    }

    fn bound_text(&self) -> String {
        if self.width.count() > 0 {
            let [p50, p99, _] = quantiles(&self.width).map(duration);
            return format!("p50 {p50}, p99 {p99} wide");
        }
        if self.above.count() == 0 {
            return "none yet".into();
        }
        let [p50, p99, _] = quantiles(&self.above).map(duration);
        format!("p50 {p50}, p99 {p99} above the estimate; none below, as that takes requests")
    }

    fn health_text(&self) -> String {
        let Some(last) = &self.last else {
            return "no samples".into();
        };
        let all = self.samples().max(1) as f64;
        let shares: Vec<String> = self
            .health
            .iter()
            .map(|(name, rows)| format!("{name} {:.1} %", *rows as f64 / all * 100.0))
            .collect();
        format!("{} at the end ({})", last.health, shares.join(", "))
    }

    /// The summary as JSON.
    pub(crate) fn json(&self, estimator: &str) -> Json {
        let shares = |histogram: &Histogram| {
            let [p50, p99, most] = quantiles(histogram);
            (histogram.count() > 0).then(|| json!({ "p50": p50, "p99": p99, "max": most }))
        };
        let epochs: Vec<Json> = self.epochs.iter().map(epoch_json).collect();
        let events = self.events.iter();
        json!({
            "estimator": estimator,
            "samples": self.samples(),
            "passive": self.passive,
            "active": self.active,
            "seconds": self.seconds(),
            "offset_ns": self.epochs.last().map(|epoch| epoch.last.offset),
            "drift_ppm": self.epochs.last().and_then(|epoch| epoch.recent.ppm_to(epoch.last)),
            "jitter_ns": shares(&self.delay),
            "sigma_ns": shares(&self.sigma),
            "bias_ns": { "least": self.bias.0, "most": self.bias.1 },
            "least_delay_ns": self.calibration.by_requests().map(delay_json),
            "limits_reached": self.limits.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "offset_bound_ns": self.bias.0.max(self.bias.0.map(i64::abs)).max(self.bias.1),
            "bound_width_ns": shares(&self.width),
            "upper_bound_ns": shares(&self.above),
            "health": self.last.map(|last| last.health.name()),
            "health_rows": self.health,
            "epochs": epochs,
            "epoch_count": self.epoch_count,
            "resets": self.resets,
            "events": events.map(|(at, text)| json!({ "at_s": at, "text": text })).collect::<Vec<_>>(),
            "events_left_out": self.more_events,
        })
    }
}

/// A constant delay as JSON.
pub(crate) fn delay_json(found: ConstantDelay) -> Json {
    json!({
        "delay": found.delay.nanos(),
        "least": found.least.nanos(),
        "most": found.most.nanos(),
    })
}

/// The distance of the hard bounds from an estimate: below, above. An average may lie outside of them.
pub(crate) fn bounds_text(newest: &Mapped) -> String {
    let distance = |bound: Option<Time<Steady>>| Some((bound? - newest.host).nanos());
    let size = |nanos: i64| duration(i64::try_from(nanos.unsigned_abs()).unwrap_or(i64::MAX));
    let below = distance(newest.bounds.lower)
        .map(|nanos| format!("{}{}", if nanos > 0 { "+" } else { "-" }, size(nanos)));
    let above = distance(newest.bounds.upper)
        .map(|nanos| format!("{}{}", if nanos < 0 { "-" } else { "+" }, size(nanos)));
    match (below, above) {
        (Some(below), Some(above)) => format!("{below} {above}"),
        (None, Some(above)) => above,
        _ => "none".to_owned(),
    }
}

/// With its sign.
fn signed(nanos: i64) -> String {
    format!("+{}", duration(nanos))
}

fn drift_text(epoch: &Epoch) -> String {
    let Some(ppm) = epoch.recent.ppm_to(epoch.last) else {
        return "unknown: there is less than a second of samples".into();
    };
    let whole = epoch.first.ppm_to(epoch.last).unwrap_or(ppm);
    format!("{ppm:.3} ppm, host against device at the end; {whole:.3} ppm over the epoch")
}

fn epoch_json(epoch: &Epoch) -> Json {
    json!({
        "epoch": epoch.number,
        "samples": epoch.rows,
        "first_device_ns": epoch.first.device,
        "last_device_ns": epoch.last.device,
        "first_offset_ns": epoch.first.offset,
        "last_offset_ns": epoch.last.offset,
        "drift_ppm": epoch.first.ppm_to(epoch.last),
    })
}

/// Adds a duration; a negative one counts as zero.
fn add(histogram: &mut Histogram, nanos: i64) {
    histogram.add(u64::try_from(nanos).unwrap_or(0));
}

/// The median, the 99th percentile and the maximum, in nanoseconds.
fn quantiles(histogram: &Histogram) -> [i64; 3] {
    let shares = [
        histogram.percentile(0.5),
        histogram.percentile(0.99),
        histogram.max(),
    ];
    shares.map(|nanos| i64::try_from(nanos).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_sync::Bounds;
    use timeloom_time::Duration;

    #[test]
    fn bounds_have_one_sign_also_where_the_estimate_lies_outside() {
        let text = |lower: Option<i64>, upper: Option<i64>| {
            bounds_text(&Mapped {
                host: Time::from_nanos(1_000_000),
                sigma: Duration::ZERO,
                bounds: Bounds {
                    lower: lower.map(Time::from_nanos),
                    upper: upper.map(Time::from_nanos),
                },
                health: Health::Locked,
                epoch: 0,
            })
        };
        assert_eq!(text(Some(700_000), Some(1_900_000)), "-300 µs +900 µs");
        assert_eq!(text(Some(1_400_000), Some(1_900_000)), "+400 µs +900 µs");
        assert_eq!(text(None, Some(900_000)), "-100 µs");
        assert_eq!(text(None, None), "none");
    }
}
