//! The report as one HTML file.

use std::fmt::Write as _;

use crate::claim::Chapter;

const HEAD: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
<meta name=\"viewport\" content=\"width=device-width\"><title>Timeloom: the demo</title><style>\
:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:58rem;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.6rem;margin-bottom:0}h2{font-size:1.15rem;margin:2.2rem 0 .5rem}\
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}\
td,th{padding:.35rem .7rem;text-align:right;border-bottom:1px solid #8884;font-weight:400}th{opacity:.65;font-size:.85rem}\
td:first-child,th:first-child{text-align:left}ul{list-style:none;padding:0}li{padding-left:1.6rem;text-indent:-1.6rem}\
.yes::before{content:'✓ ';color:#2a9d4a;font-weight:700}.no::before{content:'✗ ';color:#d33;font-weight:700}\
</style>";

pub(crate) fn html(chapters: &[Chapter]) -> String {
    let all = chapters.iter().all(Chapter::is_true);
    let verdict = if all {
        "Every claim was checked against the truth, and is true."
    } else {
        "Not every claim is true."
    };
    let mut page = format!(
        "{HEAD}<h1>Timeloom: the demo</h1><p>{verdict} <a href=\"lineage.html\">Lineage in detail</a></p>"
    );
    for chapter in chapters {
        chapter_html(&mut page, chapter);
    }
    page
}

fn chapter_html(page: &mut String, chapter: &Chapter) {
    let mut add = |text: String| page.push_str(&text);
    add(format!("<h2>{}</h2><table><tr>", escape(chapter.title)));
    for head in &chapter.table.head {
        add(format!("<th>{}</th>", escape(head)));
    }
    for row in &chapter.table.rows {
        let mut cells = String::new();
        for cell in row {
            let _written = write!(cells, "<td>{}</td>", escape(cell));
        }
        add(format!("</tr><tr>{cells}"));
    }
    add("</tr></table><ul>".to_owned());
    for claim in &chapter.claims {
        let class = if claim.is_true { "yes" } else { "no" };
        add(format!(
            "<li class=\"{class}\">{}</li>",
            escape(&claim.text)
        ));
    }
    add("</ul>".to_owned());
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
