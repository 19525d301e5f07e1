//! Services and actions, and their messages on the wire.

use super::{
    ArrayShape, BaseType, Field, FieldType, MessageDefinition, Primitive, Source, check_text,
};
use crate::{InterfaceKind, Result, TypeName};

/// A service: a request and a response.
#[derive(Debug, Clone, PartialEq)]
pub struct ServiceDefinition {
    /// The full type name, such as `example_interfaces/srv/AddTwoInts`.
    pub name: TypeName,
    /// `…_Request`.
    pub request: MessageDefinition,
    /// `…_Response`.
    pub response: MessageDefinition,
}

/// An action: a goal, a result and feedback.
#[derive(Debug, Clone, PartialEq)]
pub struct ActionDefinition {
    /// The full type name, such as `example_interfaces/action/Fibonacci`.
    pub name: TypeName,
    /// `…_Goal`.
    pub goal: MessageDefinition,
    /// `…_Result`.
    pub result: MessageDefinition,
    /// `…_Feedback`.
    pub feedback: MessageDefinition,
}

impl ServiceDefinition {
    /// Reads the text of a `.srv` file.
    pub fn parse(name: &TypeName, text: &str) -> Result<Self> {
        Self::parse_from(name, text, 1)
    }

    pub(crate) fn parse_from(name: &TypeName, text: &str, first: u32) -> Result<Self> {
        let [request, response] = parse_parts(name, text, first, ["_Request", "_Response"])?;
        Ok(Self {
            name: name.clone(),
            request,
            response,
        })
    }

    /// Every type that the service adds: request, response, event, and the service itself as in type descriptions.
    pub fn messages(&self) -> Vec<MessageDefinition> {
        let mut all = vec![self.request.clone(), self.response.clone()];
        all.extend(service_extras(&self.name));
        all
    }

    /// The text of a `.srv` file, with the comments of its parts where they are known.
    pub fn text(&self) -> String {
        format!("{}---\n{}", self.request.text(), self.response.text())
    }
}

impl ActionDefinition {
    /// Reads the text of a `.action` file.
    pub fn parse(name: &TypeName, text: &str) -> Result<Self> {
        Self::parse_from(name, text, 1)
    }

    pub(crate) fn parse_from(name: &TypeName, text: &str, first: u32) -> Result<Self> {
        let [goal, result, feedback] =
            parse_parts(name, text, first, ["_Goal", "_Result", "_Feedback"])?;
        Ok(Self {
            name: name.clone(),
            goal,
            result,
            feedback,
        })
    }

    /// Every type that the action adds: its parts, its two services, its feedback message and the action itself.
    pub fn messages(&self) -> Vec<MessageDefinition> {
        let mut all = vec![
            self.goal.clone(),
            self.result.clone(),
            self.feedback.clone(),
        ];
        all.extend(action_extras(&self.name));
        all
    }

    /// The text of a `.action` file, with the comments of its parts where they are known.
    pub fn text(&self) -> String {
        let [goal, result, feedback] =
            [&self.goal, &self.result, &self.feedback].map(MessageDefinition::text);
        format!("{goal}---\n{result}---\n{feedback}")
    }
}

/// The event and the service itself, whose layouts follow from the name alone.
pub(crate) fn service_extras(service: &TypeName) -> [MessageDefinition; 2] {
    let [request, response, event] =
        ["_Request", "_Response", "_Event"].map(|s| service.with_suffix(s));
    let at_most_one = |name: &TypeName| FieldType {
        base: BaseType::Message(name.clone()),
        shape: ArrayShape::Bounded(1),
    };
    let event_message = message(
        event.clone(),
        vec![
            Field::new("info", common("service_msgs", "ServiceEventInfo")),
            Field::new("request", at_most_one(&request)),
            Field::new("response", at_most_one(&response)),
        ],
    );
    let whole = message(
        service.clone(),
        vec![
            Field::new("request_message", of(&request)),
            Field::new("response_message", of(&response)),
            Field::new("event_message", of(&event)),
        ],
    );
    [event_message, whole]
}

/// The messages that rosidl adds to the goal, result and feedback of an action.
pub(crate) fn action_extras(action: &TypeName) -> Vec<MessageDefinition> {
    let part = |suffix: &str| action.with_suffix(suffix);
    let id = || Field::new("goal_id", common("unique_identifier_msgs", "UUID"));
    let primitive =
        |name, primitive| Field::new(name, FieldType::single(BaseType::Primitive(primitive)));
    let field = |name, suffix| Field::new(name, of(&part(suffix)));
    let stamp = Field::new("stamp", common("builtin_interfaces", "Time"));
    let mut all = vec![
        message(
            part("_SendGoal_Request"),
            vec![id(), field("goal", "_Goal")],
        ),
        message(
            part("_SendGoal_Response"),
            vec![primitive("accepted", Primitive::Bool), stamp],
        ),
        message(part("_GetResult_Request"), vec![id()]),
        message(
            part("_GetResult_Response"),
            vec![
                primitive("status", Primitive::Int8),
                field("result", "_Result"),
            ],
        ),
        message(
            part("_FeedbackMessage"),
            vec![id(), field("feedback", "_Feedback")],
        ),
        message(
            action.clone(),
            vec![
                field("goal", "_Goal"),
                field("result", "_Result"),
                field("feedback", "_Feedback"),
                field("send_goal_service", "_SendGoal"),
                field("get_result_service", "_GetResult"),
                field("feedback_message", "_FeedbackMessage"),
            ],
        ),
    ];
    all.extend(service_extras(&part("_SendGoal")));
    all.extend(service_extras(&part("_GetResult")));
    all
}

fn message(name: TypeName, fields: Vec<Field>) -> MessageDefinition {
    MessageDefinition::new(name, fields, Vec::new())
}

fn of(name: &TypeName) -> FieldType {
    FieldType::single(BaseType::Message(name.clone()))
}

fn common(package: &str, name: &str) -> FieldType {
    let name = TypeName::new(package, InterfaceKind::Msg, name);
    of(&name.expect("invariant: the names of common messages are valid"))
}

/// Splits a text at its `---` lines and reads each part under the name with its suffix.
fn parse_parts<const N: usize>(
    name: &TypeName,
    text: &str,
    first: u32,
    suffixes: [&str; N],
) -> Result<[MessageDefinition; N]> {
    let full = name.to_string();
    check_text(&full, text)?;
    let lines: Vec<&str> = text.lines().collect();
    let mut parts = Vec::with_capacity(N);
    let (mut start, mut line) = (0, first);
    for end in (0..=lines.len()).filter(|&i| lines.get(i).is_none_or(|l| l.trim_end() == "---")) {
        let Some(suffix) = suffixes.get(parts.len()) else {
            let source = Source {
                name: &full,
                line: line.saturating_sub(1),
            };
            return Err(source.expected(format!("only {} lines `---`", N - 1), "---"));
        };
        let body = lines.get(start..end).unwrap_or_default();
        parts.push(MessageDefinition::parse_lines(
            &name.with_suffix(suffix),
            body.iter().copied(),
            line,
        )?);
        line = line.saturating_add(u32::try_from(end + 1 - start).unwrap_or(u32::MAX));
        start = end + 1;
    }
    let found = format!("{} parts", parts.len());
    let source = Source {
        name: &full,
        line: line.saturating_sub(1),
    };
    parts
        .try_into()
        .ok()
        .ok_or_else(|| source.expected(format!("{N} parts with `---` between them"), &found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_and_its_messages() {
        let name = TypeName::parse("example_interfaces/srv/AddTwoInts").unwrap();
        let service =
            ServiceDefinition::parse(&name, "int64 a\nint64 b\n---\nint64 sum\n").unwrap();
        assert_eq!(service.request.fields.len(), 2);
        assert_eq!(
            service.response.name.to_string(),
            "example_interfaces/srv/AddTwoInts_Response"
        );
        let names: Vec<_> = service
            .messages()
            .iter()
            .map(|m| m.name.name().to_owned())
            .collect();
        assert_eq!(
            names,
            [
                "AddTwoInts_Request",
                "AddTwoInts_Response",
                "AddTwoInts_Event",
                "AddTwoInts"
            ]
        );
        assert!(
            ServiceDefinition::parse(&name, "---")
                .unwrap()
                .request
                .fields
                .is_empty()
        );
    }

    #[test]
    fn an_action_and_its_messages() {
        let name = TypeName::parse("example_interfaces/action/Fibonacci").unwrap();
        let action = ActionDefinition::parse(
            &name,
            "int32 order\n---\nint32[] sequence\n---\nint32[] sequence",
        )
        .unwrap();
        assert_eq!(action.messages().len(), 13);
        assert_eq!(action.feedback.fields[0].name, "sequence");
    }

    #[test]
    fn the_number_of_parts_and_the_line_of_errors() {
        let name = TypeName::parse("p/srv/S").unwrap();
        let error = |text| {
            ServiceDefinition::parse(&name, text)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            error("int32 a"),
            "line 2 of p/srv/S: expected 2 parts with `---` between them, found `1 parts`"
        );
        assert_eq!(
            error("---\n---\n"),
            "line 2 of p/srv/S: expected only 1 lines `---`, found `---`"
        );
        assert_eq!(
            error("int32 a\n---\nint32\n"),
            "line 3 of p/srv/S_Response: expected a field name, found nothing"
        );
    }
}
