//! The page: one document with its style and script.

use data_encoding::BASE64;
use sha2::{Digest as _, Sha256};

use crate::http::Response;

const MARKUP: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
/// The scripts in order of evaluation.
const SCRIPTS: &[&str] = &[
    include_str!("page/format.js"),
    include_str!("page/link.js"),
    include_str!("page/plot.js"),
    include_str!("page/timeline.js"),
    include_str!("page/topics.js"),
    include_str!("page/sync.js"),
    include_str!("page/lineage.js"),
    include_str!("page/main.js"),
];

/// The page as it is served.
pub(crate) struct Page {
    document: String,
    policy: String,
}

impl Page {
    pub(crate) fn new() -> Self {
        let script = format!("\"use strict\";\n{}", SCRIPTS.concat());
        let document = MARKUP
            .replace("/*STYLE*/", STYLE)
            .replace("/*SCRIPT*/", &script);
        // Only the scripts in the page may run, and they may connect only to this server.
        let policy = format!(
            "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; connect-src 'self'; \
             base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            hash(&script),
            hash(STYLE)
        );
        Self { document, policy }
    }

    pub(crate) fn response(&self) -> Response {
        Response::new("200 OK", "text/html; charset=utf-8", self.document.clone())
            .header("Content-Security-Policy", self.policy.clone())
            .header("Referrer-Policy", "no-referrer")
    }
}

fn hash(text: &str) -> String {
    format!("sha256-{}", BASE64.encode(&Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_loads_no_external_resources() {
        let page = Page::new();
        assert!(!page.document.contains("/*STYLE*/") && !page.document.contains("/*SCRIPT*/"));
        for forbidden in [
            "<link rel=\"stylesheet\"",
            "<script src",
            "@import",
            "https://",
            "innerHTML",
            "eval(",
        ] {
            assert!(!page.document.contains(forbidden), "{forbidden}");
        }
    }

    #[test]
    fn the_content_security_policy_contains_the_script_hash() {
        assert_eq!(
            hash(""),
            "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        );
        let page = Page::new();
        assert!(!page.policy.contains("unsafe"));
        let begin = page.document.find("<script>").unwrap() + "<script>".len();
        let end = page.document.find("</script>").unwrap();
        assert!(page.policy.contains(&hash(&page.document[begin..end])));
        let begin = page.document.find("<style>").unwrap() + "<style>".len();
        let end = page.document.find("</style>").unwrap();
        assert!(page.policy.contains(&hash(&page.document[begin..end])));
    }
}
