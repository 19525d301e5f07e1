//! The tables of `ARCHITECTURE.md`: they are the rules, so that document and code cannot diverge.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

/// The document's name.
pub(super) const DOCUMENT: &str = "ARCHITECTURE.md";

/// The allowed dependencies of a room.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Allowed {
    /// These rooms and no others.
    Rooms(Vec<String>),
    /// Every room that has a layer number.
    AllRooms,
    /// Everything.
    Anything,
}

/// One line of the room table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Room {
    pub(super) name: String,
    /// `None` for development crates, which stand beside the layers.
    pub(super) layer: Option<u32>,
    pub(super) allowed: Allowed,
    pub(super) may_be_unsafe: bool,
    pub(super) exists: bool,
}

/// The rules of the document.
pub(super) struct Architecture {
    pub(super) rooms: Vec<Room>,
    /// Library name to the only room that may depend on it.
    pub(super) libraries: BTreeMap<String, String>,
}

impl Architecture {
    /// Reads the document under `root`; an unreadable or missing table is an error.
    pub(super) fn read(root: &Path) -> io::Result<Self> {
        let text = fs::read_to_string(root.join(DOCUMENT))?;
        let rooms = rows(
            &text,
            &["room", "layer", "may depend on", "unsafe", "state"],
        )?;
        let rooms = rooms
            .iter()
            .map(|row| room(row))
            .collect::<io::Result<_>>()?;
        let mut libraries = BTreeMap::new();
        for row in rows(&text, &["library", "only in"])? {
            for library in names(&row[0]) {
                libraries.insert(library, plain(&row[1]));
            }
        }
        Ok(Self { rooms, libraries })
    }

    pub(super) fn room(&self, name: &str) -> Option<&Room> {
        self.rooms.iter().find(|room| room.name == name)
    }
}

fn room(row: &[String]) -> io::Result<Room> {
    let name = plain(&row[0]);
    let layer = match &*plain(&row[1]) {
        "dev" => None,
        layer => Some(
            layer
                .parse()
                .map_err(|_no_number| bad(&format!("{name}: no layer `{layer}`")))?,
        ),
    };
    let allowed = match &*plain(&row[2]) {
        "none" => Allowed::Rooms(Vec::new()),
        "all rooms" => Allowed::AllRooms,
        "anything" => Allowed::Anything,
        _ => Allowed::Rooms(names(&row[2])),
    };
    let exists = match &*plain(&row[4]) {
        "exists" => true,
        "planned" => false,
        state => {
            return Err(bad(&format!(
                "{name}: state `{state}` is neither exists nor planned"
            )));
        }
    };
    Ok(Room {
        layer,
        allowed,
        may_be_unsafe: plain(&row[3]) != "no",
        exists,
        name,
    })
}

/// The rows of the table whose header begins with `columns`.
fn rows(text: &str, columns: &[&str]) -> io::Result<Vec<Vec<String>>> {
    let mut lines = text.lines().map(cells);
    let is_header = |cells: &Option<Vec<String>>| {
        cells.as_ref().is_some_and(|cells| {
            cells.len() >= columns.len()
                && columns.iter().zip(cells).all(|(want, have)| want == have)
        })
    };
    if !lines.any(|cells| is_header(&cells)) {
        return Err(bad(&format!(
            "no table with the columns {}",
            columns.join(", ")
        )));
    }
    let rows = lines.skip(1).map_while(|cells| cells);
    let rows: Vec<_> = rows.filter(|cells| cells.len() >= columns.len()).collect();
    if rows.is_empty() {
        Err(bad(&format!("the table {} is empty", columns.join(", "))))
    } else {
        Ok(rows)
    }
}

fn cells(line: &str) -> Option<Vec<String>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(
        inner
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect(),
    )
}

fn names(cell: &str) -> Vec<String> {
    cell.split(',').map(plain).collect()
}

fn plain(cell: &str) -> String {
    cell.replace('`', "").trim().to_owned()
}

fn bad(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{DOCUMENT}: {message}"))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::tidy::tree::Tree;

    /// A small document for the tests of the checks.
    pub(in crate::tidy) const EXAMPLE: &str = "\
# Architecture\n\n\
| room | layer | may depend on | unsafe | state | what it holds |\n\
|---|---|---|---|---|---|\n\
| `time` | 0 | none | no | exists | clocks |\n\
| `bag` | 1 | `time` | no | exists | bags |\n\
| `dds` | 2 | `time`, `bag` | FFI | planned | dds |\n\
| `testkit` | dev | `time`, `bag` | no | exists | kit |\n\
| `xtask` | dev | anything | no | exists | tasks |\n\n\
| library | only in |\n|---|---|\n| `mcap`, `rusqlite` | `bag` |\n| `zenoh` | `zenoh` |\n";

    fn read(document: &str) -> io::Result<Architecture> {
        Architecture::read(Tree::new(&[(DOCUMENT, document)]).root())
    }

    #[test]
    fn both_tables_are_read() {
        let architecture = read(EXAMPLE).unwrap();
        assert_eq!(architecture.rooms.len(), 5);
        let dds = Room {
            name: "dds".into(),
            layer: Some(2),
            allowed: Allowed::Rooms(vec!["time".into(), "bag".into()]),
            may_be_unsafe: true,
            exists: false,
        };
        assert_eq!(architecture.room("dds"), Some(&dds));
        assert_eq!(
            architecture.room("time").unwrap().allowed,
            Allowed::Rooms(Vec::new())
        );
        assert_eq!(
            architecture.room("xtask").unwrap().allowed,
            Allowed::Anything
        );
        let libraries: Vec<_> = architecture.libraries.into_iter().collect();
        let expected = [("mcap", "bag"), ("rusqlite", "bag"), ("zenoh", "zenoh")];
        assert_eq!(
            libraries,
            expected.map(|(library, room)| (library.to_owned(), room.to_owned()))
        );
    }

    #[test]
    fn a_lost_or_unreadable_table_is_an_error() {
        assert!(read("# nothing").is_err());
        assert!(read(&EXAMPLE.replace("| library |", "| libs |")).is_err());
        assert!(read(&EXAMPLE.replace("| 0 |", "| zero |")).is_err());
        assert!(read(&EXAMPLE.replace("planned", "soon")).is_err());
        let header_only = EXAMPLE.split("| `mcap`").next().unwrap();
        assert!(read(header_only).is_err());
    }
}
