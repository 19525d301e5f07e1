//! Concatenated definitions, as bags store them: a root, then sections after `====` lines.

use super::Definitions;
use crate::definition::{
    ActionDefinition, BaseType, MessageDefinition, ServiceDefinition, Source, check_text,
};
use crate::{Error, InterfaceKind, Result, TypeName, idl};

/// Most sections of one text.
const MAX_SECTIONS: usize = 4096;

impl Definitions {
    /// Reads a schema with encoding `ros2msg`, as MCAP and sqlite3 bags hold it.
    ///
    /// The root is `name`; for a part of a service or an action, the text is that of the whole `.srv` or `.action`.
    /// The texts that rosbag2 stores for services (`SRV:` in the first line) are read too.
    pub fn parse_ros2msg(name: &TypeName, text: &str) -> Result<Self> {
        Self::parse_sections(name, text, Form::Msg)
    }

    /// Reads a schema with encoding `ros2idl`.
    pub fn parse_ros2idl(name: &TypeName, text: &str) -> Result<Self> {
        Self::parse_sections(name, text, Form::Idl)
    }

    /// Reads the definition that a bag stores for a type. The stated encoding is only a hint.
    ///
    /// Real bags call the text of a service `unknown`.
    ///
    /// # Errors
    /// Names the line and the expected token.
    pub(crate) fn parse_stored(name: &TypeName, encoding: &str, text: &str) -> Result<Self> {
        let looks_like_idl = || text.contains("module ") && text.contains("struct ");
        match encoding {
            "ros2idl" => Self::parse_ros2idl(name, text),
            "ros2msg" => Self::parse_ros2msg(name, text),
            _ if looks_like_idl() => Self::parse_ros2idl(name, text),
            _ => Self::parse_ros2msg(name, text),
        }
    }

    fn parse_sections(name: &TypeName, text: &str, root_form: Form) -> Result<Self> {
        check_text(&name.to_string(), text)?;
        let sections = split(name, text, root_form)?;
        let mut all = Self::default();
        let names = match name.kind() {
            InterfaceKind::Msg => Names::AsWritten,
            InterfaceKind::Srv | InterfaceKind::Action => Names::Derived,
        };
        for section in sections.iter().skip(1) {
            all.add_section(section, names)?;
        }
        // A text may start with a headed section for the root itself; then nothing is before it.
        let root_is_headed =
            all.get(name).is_some() && sections.first().is_some_and(|s| s.text.trim().is_empty());
        if let Some(root) = sections.first().filter(|_| !root_is_headed) {
            all.add_section(root, names)?;
        }
        Ok(all)
    }

    fn add_section(&mut self, section: &Section<'_>, names: Names) -> Result<()> {
        let messages = match (section.form, section.name.kind()) {
            (Form::Idl, _) => idl::parse(&section.name, section.text, section.line)?,
            // Other writers store the event itself, like any message.
            (Form::Msg, InterfaceKind::Srv | InterfaceKind::Action) if !has_parts(section.text) => {
                vec![MessageDefinition::parse_lines(
                    &section.name,
                    section.text.lines(),
                    section.line,
                )?]
            }
            (Form::Msg, InterfaceKind::Msg) => {
                vec![MessageDefinition::parse_lines(
                    &section.name,
                    section.text.lines(),
                    section.line,
                )?]
            }
            (Form::Msg, InterfaceKind::Srv) => {
                let service = section.name.interface();
                ServiceDefinition::parse_from(&service, section.text, section.line)?.messages()
            }
            (Form::Msg, InterfaceKind::Action) => {
                let action = section.name.interface();
                ActionDefinition::parse_from(&action, section.text, section.line)?.messages()
            }
        };
        for message in messages {
            self.add_once(names.apply(message), section)?;
        }
        Ok(())
    }

    /// Old rosbag2 repeats sections: the same again is fine, another layout is not.
    fn add_once(&mut self, message: MessageDefinition, section: &Section<'_>) -> Result<()> {
        match self.get(&message.name) {
            Some(known) if known.fields != message.fields => {
                let name = message.name.to_string();
                let source = Source {
                    name: &name,
                    line: section.line,
                };
                Err(source.expected(
                    "the same fields as in the section before",
                    &message.to_string(),
                ))
            }
            _ => {
                self.insert(message);
                Ok(())
            }
        }
    }
}

/// The meaning of `package/Name`.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Names {
    /// As a message.
    AsWritten,
    /// As a part of a service or an action, by its suffix.
    Derived,
}

impl Names {
    fn apply(self, mut message: MessageDefinition) -> MessageDefinition {
        if self == Self::Derived {
            message.name = message.name.with_derived_kind();
            for field in &mut message.fields {
                if let BaseType::Message(name) = &mut field.ty.base {
                    *name = name.clone().with_derived_kind();
                }
            }
        }
        message
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    Msg,
    Idl,
}

struct Section<'a> {
    name: TypeName,
    form: Form,
    text: &'a str,
    /// The number of the first line of `text`.
    line: u32,
}

/// Splits a text into the root (first, perhaps empty) and its headed sections.
fn split<'a>(root: &TypeName, text: &'a str, root_form: Form) -> Result<Vec<Section<'a>>> {
    let full = root.to_string();
    let mut sections = vec![Section {
        name: root.clone(),
        form: root_form,
        text: "",
        line: 1,
    }];
    let (mut start, mut offset, mut line) = (0, 0, 0_u32);
    let mut awaits_header = false;
    for raw in text.split_inclusive('\n') {
        line = line.saturating_add(1);
        let (begin, trimmed) = (offset, raw.trim());
        offset += raw.len();
        if is_separator(trimmed) {
            if let Some(section) = sections.last_mut().filter(|_| !awaits_header) {
                section.text = without_blank_end(text.get(start..begin).unwrap_or_default());
            }
            awaits_header = true;
        } else if awaits_header && !trimmed.is_empty() {
            let source = Source { name: &full, line };
            let (name, form) = header(source, trimmed)?;
            sections.push(Section {
                name,
                form,
                text: "",
                line: line.saturating_add(1),
            });
            awaits_header = false;
            start = offset;
            if sections.len() > MAX_SECTIONS {
                let (actual, limit) = (sections.len() as u64, MAX_SECTIONS as u64);
                return Err(Error::Limit {
                    name: full,
                    what: "number of sections",
                    actual,
                    limit,
                });
            }
        }
    }
    if awaits_header {
        return Err(
            Source { name: &full, line }.expected("`MSG: package/Type` after the separator", "")
        );
    }
    if let Some(section) = sections.last_mut() {
        section.text = text.get(start..).unwrap_or_default();
    }
    Ok(sections)
}

/// The text of a section without the blank line before a separator.
fn without_blank_end(text: &str) -> &str {
    match text.strip_suffix('\n') {
        Some(rest) if rest.is_empty() || rest.ends_with('\n') => rest,
        _ => text,
    }
}

/// Whether a text is that of a whole service or action.
fn has_parts(text: &str) -> bool {
    text.lines().any(|line| line.trim_end() == "---")
}

fn is_separator(line: &str) -> bool {
    line.len() >= 3 && line.bytes().all(|b| b == b'=')
}

fn header(source: Source<'_>, line: &str) -> Result<(TypeName, Form)> {
    let wrong = || {
        source.expected(
            "`MSG: package/Type`, `SRV: …`, `ACTION: …` or `IDL: …`",
            line,
        )
    };
    let (keyword, name) = line.split_once(':').ok_or_else(wrong)?;
    let form = match keyword {
        "MSG" | "SRV" | "ACTION" => Form::Msg,
        "IDL" => Form::Idl,
        _ => return Err(wrong()),
    };
    let name = TypeName::parse(name.trim()).ok().ok_or_else(wrong)?;
    Ok((name, form))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(name: &str, text: &str) -> Result<Definitions> {
        Definitions::parse_ros2msg(&TypeName::parse(name).unwrap(), text)
    }

    fn names(definitions: &Definitions) -> Vec<String> {
        definitions.iter().map(|m| m.name.to_string()).collect()
    }

    #[test]
    fn root_and_sections() {
        let all = parse(
            "p/msg/A",
            "B b\n\n================\nMSG: p/B\nint8 x\n===\nMSG: q/msg/C\n",
        )
        .unwrap();
        assert_eq!(names(&all), ["p/msg/A", "p/msg/B", "q/msg/C"]);
        assert!(
            all.get(&TypeName::parse("q/C").unwrap())
                .unwrap()
                .fields
                .is_empty()
        );
        assert_eq!(names(&parse("p/msg/Empty", "").unwrap()), ["p/msg/Empty"]);
    }

    #[test]
    fn services_with_and_without_the_first_header() {
        let plain = parse("p/srv/S_Event", "int8 a\n---\nint8 b\n").unwrap();
        let headed = parse("p/srv/S_Event", "====\nSRV: p/srv/S\nint8 a\n---\nint8 b\n").unwrap();
        assert_eq!(plain, headed);
        assert_eq!(
            names(&plain),
            [
                "p/srv/S",
                "p/srv/S_Event",
                "p/srv/S_Request",
                "p/srv/S_Response"
            ]
        );
    }

    #[test]
    fn an_event_may_be_stored_as_a_message() {
        let all = parse("p/srv/S_Event", "uint8 x\n").unwrap();
        assert_eq!(names(&all), ["p/srv/S_Event"]);
    }

    #[test]
    fn parts_of_an_action_may_be_spelt_short_or_long() {
        let text = |reference: &str, header: &str| {
            format!("{reference}[<=1] goal\n===\nMSG: {header}\nint8 x\n")
        };
        let short = text("A_Goal", "p/A_Goal");
        // Earlier versions of this crate wrote long references and short headers.
        let mixed = text("p/action/A_Goal", "p/A_Goal");
        let long = text("p/action/A_Goal", "p/action/A_Goal");
        for text in [short.as_str(), &mixed, &long] {
            let all = parse("p/action/A_SendGoal_Event", text).unwrap();
            assert_eq!(
                names(&all),
                ["p/action/A_Goal", "p/action/A_SendGoal_Event"]
            );
            assert!(all.schema("p/action/A_SendGoal_Event").is_ok());
        }
        let message = parse("p/msg/A", &short).unwrap();
        assert_eq!(names(&message), ["p/msg/A", "p/msg/A_Goal"]);
    }

    #[test]
    fn stored_texts_of_every_encoding() {
        let fields = |name: &str, encoding, text| {
            let name = TypeName::parse(name).unwrap();
            let all = Definitions::parse_stored(&name, encoding, text).unwrap();
            all.get(&name).unwrap().fields.len()
        };
        let idl = "module p { module msg { struct A { long x; }; }; };";
        assert_eq!(fields("p/msg/A", "ros2msg", "int8 a\n"), 1);
        assert_eq!(fields("p/msg/A", "ros2idl", idl), 1);
        assert_eq!(fields("p/msg/A", "unknown", idl), 1);
        let service = "====\nSRV: p/srv/S\nint8 a\n---\n";
        assert_eq!(fields("p/srv/S_Event", "unknown", service), 3);
    }

    #[test]
    fn comments_survive_reading_and_writing() {
        let text = "# root\nB b  # the b\n\n================\nMSG: p/B\n# part\nint8 X=1 # one\nint8 x 3\n";
        let name = TypeName::parse("p/msg/A").unwrap();
        let all = parse("p/msg/A", text).unwrap();
        let written = all.ros2msg(&name).unwrap();
        assert_eq!(written.replace(&"=".repeat(80), "================"), text);
        assert_eq!(
            parse("p/msg/A", &written).unwrap().ros2msg(&name).unwrap(),
            written
        );
    }

    #[test]
    fn repeated_sections_must_agree() {
        let text = |second| format!("B b\n===\nMSG: p/B\nint8 x\n===\nMSG: p/B\n{second} x\n");
        assert!(parse("p/msg/A", &text("int8")).is_ok());
        let error = parse("p/msg/A", &text("int16")).unwrap_err().to_string();
        assert!(
            error.starts_with("line 7 of p/msg/B: expected the same fields"),
            "{error}"
        );
    }

    #[test]
    fn errors_count_lines_of_the_whole_text() {
        let error = parse("p/msg/A", "B b\n===\nMSG: p/B\nint8 x y\n")
            .unwrap_err()
            .to_string();
        assert_eq!(error, "line 4 of p/msg/B: expected a int8 value, found `y`");
        let error = parse("p/msg/A", "B b\n===\nWHAT: p/B\n")
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("line 3 of p/msg/A: expected `MSG: package/Type`"),
            "{error}"
        );
        assert!(parse("p/msg/A", "B b\n===\n").is_err());
    }
}
