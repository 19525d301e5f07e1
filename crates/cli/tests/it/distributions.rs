//! `docs/distributions.md` and the built-in layouts say the same.

use std::collections::BTreeMap;
use std::path::Path;

use timeloom_msg::{Definitions, Distro, TypeName};

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/distributions.md");
    std::fs::read_to_string(path).unwrap()
}

/// The rows of the table below a heading, cell by cell, without its head.
fn table(page: &str, heading: &str) -> Vec<Vec<String>> {
    let (_, below) = page.split_once(&format!("## {heading}\n")).unwrap();
    let rows = below.lines().skip_while(|line| !line.starts_with('|'));
    let rows = rows.take_while(|line| line.starts_with('|'));
    let cells = |line: &str| -> Vec<String> {
        let cells = line.trim_matches('|').split('|');
        cells
            .map(|cell| cell.trim().trim_matches('`').to_owned())
            .collect()
    };
    rows.skip(2).map(cells).collect()
}

/// The beginning of the RIHS01 hash of a layout, as the page shows it.
fn hash(distro: Distro, name: &TypeName) -> Option<String> {
    let set = Definitions::builtin_of(distro);
    let schema = set.schema(&name.to_string()).ok()?;
    let hash = schema.type_hash().ok()?.to_string();
    Some(hash.strip_prefix("RIHS01_")?.chars().take(8).collect())
}

/// Every type whose layout is not the same in all distributions.
fn differing() -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    for message in Definitions::builtin().iter() {
        let hashes: Vec<String> = Distro::ALL
            .into_iter()
            .map(|distro| hash(distro, &message.name).unwrap_or_default())
            .collect();
        if hashes.iter().any(|other| *other != hashes[0]) {
            found.insert(message.name.to_string(), hashes);
        }
    }
    found
}

#[test]
fn the_table_of_layouts_is_that_of_the_code() {
    let shown: BTreeMap<String, Vec<String>> = table(&page(), "Layouts")
        .into_iter()
        .map(|row| (row[0].clone(), row[1..].to_vec()))
        .collect();
    let real = differing();
    let lines: Vec<String> = real
        .iter()
        .map(|(name, hashes)| format!("| `{name}` | {} |", hashes.join(" | ")))
        .collect();
    assert_eq!(shown, real, "the table should be\n{}", lines.join("\n"));
}

#[test]
fn the_distributions_of_the_page_are_those_that_can_be_chosen() {
    let names: Vec<String> = table(&page(), "What differs")
        .into_iter()
        .map(|row| row[0].clone())
        .collect();
    let known: Vec<&str> = Distro::ALL.iter().map(|distro| distro.as_str()).collect();
    let chosen: Vec<&String> = names.iter().filter(|name| *name != "iron").collect();
    assert_eq!(chosen, known, "iron is described and spoken to as jazzy");
    assert!("iron".parse::<Distro>().is_err());
}
