use serde_json::json;

use crate::analysis::Report;

const PAGE: &str = include_str!("report.html");
const PLACE: &str = "\"REPORT\"";

/// The report as one self-contained page: graph, paths, hops as stacked bars, the slowest flow as a sequence.
pub fn html(report: &Report, title: &str) -> String {
    let data = json!({"title": title, "report": report}).to_string();
    // The data must not end the script element.
    let data = data.replace('<', "\\u003c").replace('\u{2028}', "\\u2028");
    PAGE.replacen(PLACE, &data, 1)
}
