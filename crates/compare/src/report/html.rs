use std::fmt::Write as _;

use super::{Comparison, TimelineCell, TopicReport, text};

/// The comparison as a page of its own: a timeline for each topic, and the text below.
pub fn html(comparison: &Comparison) -> String {
    let verdict = if comparison.is_same() {
        "same"
    } else {
        "different"
    };
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{left} | {right}</title>\n{STYLE}\n\
         <h1>{left} | {right}: {verdict}</h1>\n\
         <p><i class=\"same\"></i>same <i class=\"different\"></i>different <i class=\"left\"></i>only left \
         <i class=\"right\"></i>only right</p>\n<table>\n",
        left = escaped(&comparison.left.name),
        right = escaped(&comparison.right.name),
    );
    for topic in &comparison.topics {
        row(&mut page, topic);
    }
    page.push_str("</table>\n<pre>");
    page.push_str(&escaped(&text(comparison, true)));
    page.push_str("</pre>\n</html>\n");
    page
}

const STYLE: &str = "<style>
body { font: 14px system-ui, sans-serif; margin: 2em; color-scheme: light dark; }
td { padding: 2px 12px 2px 0; vertical-align: middle; }
svg { display: block; }
i { display: inline-block; width: 10px; height: 10px; margin: 0 4px 0 12px; }
.same { background: #4a9d5b; fill: #4a9d5b; } .different { background: #d43d3d; fill: #d43d3d; }
.left { background: #3d7dd4; fill: #3d7dd4; } .right { background: #c58a1c; fill: #c58a1c; }
</style>";

const WIDTH: usize = 5;
const HEIGHT: f64 = 24.0;

fn row(page: &mut String, topic: &TopicReport) {
    let verdict = if topic.is_same() { "same" } else { "different" };
    // Writing to a string cannot fail.
    let _ok = writeln!(
        page,
        "<tr><td>{}</td><td>{verdict}</td><td>{}</td></tr>",
        escaped(&topic.name),
        strip(topic)
    );
}

/// Bars of equal height: the shares of each kind in a part of the time.
fn strip(topic: &TopicReport) -> String {
    let cells = &topic.timeline.cells;
    let mut svg = format!(
        "<svg width=\"{}\" height=\"{HEIGHT}\" role=\"img\">",
        cells.len() * WIDTH
    );
    for (index, cell) in cells.iter().enumerate() {
        bar(&mut svg, index * WIDTH, *cell);
    }
    svg.push_str("</svg>");
    svg
}

fn bar(svg: &mut String, x: usize, cell: TimelineCell) {
    let parts = [
        ("different", cell.different),
        ("left", cell.only_left),
        ("right", cell.only_right),
        ("same", cell.same),
    ];
    let total: u64 = parts.iter().map(|(_, count)| count).sum();
    if total == 0 {
        return;
    }
    let mut y = 0.0;
    for (class, count) in parts.into_iter().filter(|(_, count)| *count > 0) {
        let height = HEIGHT * count as f64 / total as f64;
        let _ok = write!(
            svg,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y:.1}\" width=\"{WIDTH}\" height=\"{height:.1}\"><title>{count} {class}</title></rect>"
        );
        y += height;
    }
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}
