//! The page in headless Chromium: play, pause, seek by click, plots, keys, screenshots.

use std::path::Path;

use timeloom_testkit::chromium;

use crate::python::{python, run};
use crate::toy::Show;

#[test]
fn the_page_plays_pauses_seeks_and_plots_in_chromium() {
    let (Some(python), Some(chromium)) = (python(), chromium()) else {
        return;
    };
    let show = Show::new();
    // The screenshots are kept for inspection.
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .unwrap()
        .join("view");
    std::fs::create_dir_all(&pictures).unwrap();
    let arguments = [
        chromium.to_str().unwrap(),
        &show.server.url(),
        pictures.to_str().unwrap(),
    ];
    let said = run(&python, "browser.py", &arguments);
    eprintln!("{said}");
    assert_eq!(said.lines().last(), Some("all is well"), "{said}");
    let heard = show.toy.heard();
    for command in [
        "TogglePaused",
        "Seek(",
        "SetRate(2.0)",
        "Mark(A)",
        "Mark(B)",
        "PlayNext",
    ] {
        let done = heard.iter().any(|done| done.starts_with(command));
        assert!(done, "{command} is not in {heard:?}");
    }
    for picture in ["page-light.png", "page-dark.png", "page-narrow.png"] {
        let size = std::fs::metadata(pictures.join(picture)).unwrap().len();
        assert!(size > 10_000, "{picture} has {size} bytes");
    }
}
