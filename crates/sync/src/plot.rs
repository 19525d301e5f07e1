//! Pictures of a fit: offset, delays, bounds and drift as a self-contained SVG, alone or in a page.

use std::fmt::Write as _;

mod axis;
mod trace;

use axis::Axis;
use trace::Cell;
pub use trace::Trace;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 20.0;
const PANEL: f64 = 210.0;
const GAP: f64 = 56.0;
const TOP: f64 = 46.0;

const STYLE: &str = "text{font:12px sans-serif;fill:#333}.title{font-size:15px;font-weight:bold}\
.grid{stroke:#e4e4e4}.frame{fill:none;stroke:#999}.delay{fill:#b8c7d9}.bound{fill:#f3d9a4;opacity:.6}\
.sigma{fill:#5b8def;opacity:.35}.line{fill:none;stroke:#1d4fa3;stroke-width:1.5}.epoch{stroke:#c23b3b;stroke-dasharray:4 3}";

/// A picture of a fit.
///
/// ```
/// use timeloom_sync::plot::{Plot, Trace};
/// use timeloom_sync::{DeviceTime, PassiveSample, Sample, SensorClock, causal_one};
/// use timeloom_time::Time;
///
/// let mut clock = SensorClock::default();
/// let mut trace = Trace::default();
/// for packet in 0..100 {
///     let device = DeviceTime::from_nanos(packet * 10_000_000);
///     let arrived = Time::from_nanos(packet * 10_000_000 + 300_000);
///     let sample = Sample::Passive(PassiveSample::new(device, arrived));
///     trace.add(&sample, &causal_one(&sample, &mut clock)?);
/// }
/// assert!(Plot::new(&trace, "envelope").svg().starts_with("<svg"));
/// # Ok::<_, timeloom_sync::Error>(())
/// ```
#[derive(Debug)]
pub struct Plot {
    svg: String,
}

/// A panel: its name, its unit and where it stands.
struct Panel<'a> {
    title: &'a str,
    top: f64,
    x: Axis,
    y: Axis,
}

impl Plot {
    /// Draws a trace; the title names the estimator.
    pub fn new(trace: &Trace, estimator: &str) -> Self {
        let cells = trace.cells();
        let seconds: Vec<f64> = cells.iter().map(|cell| trace.seconds(cell)).collect();
        let x = Axis::new(seconds.iter().copied(), (LEFT, WIDTH - RIGHT));
        let height = TOP + 3.0 * (PANEL + GAP);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" role=\"img\"><style>{STYLE}</style><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\
             <text x=\"{LEFT}\" y=\"24\" class=\"title\">sensor clock: {}</text>",
            escaped(estimator)
        );
        delays(&mut svg, &x, &seconds, cells);
        offsets(&mut svg, &x, &seconds, cells);
        drifts(&mut svg, &x, &seconds, cells);
        svg.push_str("</svg>\n");
        Self { svg }
    }

    /// The picture alone.
    pub fn svg(&self) -> &str {
        &self.svg
    }

    /// The picture in an HTML page.
    pub fn page(&self, title: &str) -> String {
        let title = escaped(title);
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title></head>\
             <body><h1 style=\"font:18px sans-serif\">{title}</h1>\n{}</body></html>\n",
            self.svg
        )
    }
}

/// The distance of arrivals from the estimate, and the bounds around it.
fn delays(svg: &mut String, x: &Axis, seconds: &[f64], cells: &[Cell]) {
    let micros = |nanos: i64| nanos as f64 * 1e-3;
    // Stalls would flatten the rest, so the picture ends at four times the usual distance.
    let mut most: Vec<f64> = cells.iter().map(|cell| micros(cell.delay.1)).collect();
    most.sort_by(f64::total_cmp);
    let usual = most.get(most.len() / 2).copied().unwrap_or(1.0);
    let cut = |value: f64| value.clamp(-4.0 * usual.abs() - 50.0, 4.0 * usual.abs() + 50.0);
    let heights = cells.iter().flat_map(|cell| {
        let bounds = [cell.bounds.0, cell.bounds.1].into_iter().flatten();
        let all = [0, cell.delay.0, cell.delay.1, cell.sigma].into_iter();
        all.chain(bounds).map(micros).map(cut)
    });
    let panel = Panel::new(
        "arrival after the estimate, µs (grey); ± sigma (blue); bounds (yellow)",
        0,
        *x,
        heights,
    );
    panel.frame(svg);
    for (at, cell) in seconds.iter().zip(cells) {
        let left = x.at(*at);
        let bar = |svg: &mut String, class: &str, low: f64, high: f64| {
            let (top, bottom) = (panel.y.at(cut(high)), panel.y.at(cut(low)));
            let _ok = write!(
                svg,
                "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"1.2\" height=\"{:.1}\"/>",
                (bottom - top).max(0.6)
            );
        };
        if let Some(upper) = cell.bounds.1 {
            let lower = cell.bounds.0.unwrap_or(0);
            bar(svg, "bound", micros(lower), micros(upper));
        }
        bar(svg, "delay", micros(cell.delay.0), micros(cell.delay.1));
        bar(svg, "sigma", -micros(cell.sigma), micros(cell.sigma));
    }
    epochs(svg, &panel, seconds, cells);
}

/// The offset of each epoch less a straight line.
fn offsets(svg: &mut String, x: &Axis, seconds: &[f64], cells: &[Cell]) {
    let mut places = seconds.iter();
    let lines: Vec<Vec<(f64, f64)>> = cells
        .chunk_by(|a, b| a.epoch == b.epoch)
        .filter_map(|epoch| {
            let (first, last) = (epoch.first()?, epoch.last()?);
            let span = nanos(first.device_ns, last.device_ns).max(1.0);
            let slope = nanos(first.offset, last.offset) / span;
            let height = |cell: &Cell| {
                let line = slope * nanos(first.device_ns, cell.device_ns);
                (nanos(first.offset, cell.offset) - line) * 1e-3
            };
            Some(
                places
                    .by_ref()
                    .copied()
                    .zip(epoch.iter().map(height))
                    .collect(),
            )
        })
        .collect();
    let heights = lines.iter().flatten().map(|point| point.1);
    let title = "offset of each epoch less its straight line, µs";
    let panel = Panel::new(title, 1, *x, heights);
    panel.frame(svg);
    for line in &lines {
        panel.line(svg, line);
    }
    epochs(svg, &panel, seconds, cells);
}

/// The rate of the host's clock against the device's.
fn drifts(svg: &mut String, x: &Axis, seconds: &[f64], cells: &[Cell]) {
    // A slope over a twentieth of the picture: shorter ones show noise.
    let apart = (cells.len() / 20).max(1);
    let mut begin = 0;
    let lines: Vec<Vec<(f64, f64)>> = cells
        .chunk_by(|a, b| a.epoch == b.epoch)
        .map(|epoch| {
            let places = seconds.iter().skip(begin + apart);
            begin += epoch.len();
            let pairs = epoch.iter().zip(epoch.iter().skip(apart)).zip(places);
            pairs
                .filter(|((from, to), _)| to.device_ns > from.device_ns)
                .map(|((from, to), at)| {
                    let slope = nanos(from.offset, to.offset) / nanos(from.device_ns, to.device_ns);
                    (*at, slope * 1e6)
                })
                .collect()
        })
        .collect();
    let heights = lines.iter().flatten().map(|point| point.1);
    let panel = Panel::new("drift, host against device, ppm", 2, *x, heights);
    panel.frame(svg);
    for line in &lines {
        panel.line(svg, line);
    }
    epochs(svg, &panel, seconds, cells);
    let _ok = write!(
        svg,
        "<text x=\"{}\" y=\"{}\">seconds</text>",
        WIDTH - RIGHT - 50.0,
        panel.top + PANEL + 34.0
    );
}

/// The starts of epochs.
fn epochs(svg: &mut String, panel: &Panel<'_>, seconds: &[f64], cells: &[Cell]) {
    let pairs = cells.windows(2).zip(seconds.iter().skip(1));
    for (_, at) in pairs.filter(|(pair, _)| pair[0].epoch != pair[1].epoch) {
        let x = panel.x.at(*at);
        let (top, bottom) = (panel.top, panel.top + PANEL);
        let _ok = write!(
            svg,
            "<line class=\"epoch\" x1=\"{x:.1}\" y1=\"{top}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>"
        );
    }
}

impl<'a> Panel<'a> {
    fn new(title: &'a str, row: u8, x: Axis, heights: impl Iterator<Item = f64>) -> Self {
        let top = TOP + f64::from(row) * (PANEL + GAP);
        Self {
            title,
            top,
            x,
            y: Axis::new(heights, (top + PANEL, top)),
        }
    }

    fn frame(&self, svg: &mut String) {
        let (top, bottom, right) = (self.top, self.top + PANEL, WIDTH - RIGHT);
        for (value, label) in self.y.ticks() {
            let y = self.y.at(value);
            let _ok = write!(
                svg,
                "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                LEFT - 6.0,
                y + 4.0
            );
        }
        for (value, label) in self.x.ticks() {
            let x = self.x.at(value);
            let _ok = write!(
                svg,
                "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{top}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>\
                 <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{label}</text>",
                bottom + 16.0
            );
        }
        let _ok = write!(
            svg,
            "<rect class=\"frame\" x=\"{LEFT}\" y=\"{top}\" width=\"{}\" height=\"{PANEL}\"/>\
             <text x=\"{LEFT}\" y=\"{}\">{}</text>",
            right - LEFT,
            top - 6.0,
            escaped(self.title)
        );
    }

    fn line(&self, svg: &mut String, points: &[(f64, f64)]) {
        svg.push_str("<polyline class=\"line\" points=\"");
        for (at, value) in points {
            let _ok = write!(svg, "{:.1},{:.1} ", self.x.at(*at), self.y.at(*value));
        }
        svg.push_str("\"/>");
    }
}

fn nanos(from: i64, to: i64) -> f64 {
    (i128::from(to) - i128::from(from)) as f64
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
