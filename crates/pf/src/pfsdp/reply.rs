use serde_json::{Map, Value};

use super::command::Command;
use super::error_code::ErrorCode;
use crate::error::{Error, Result};
use crate::http::Response;

/// A successful reply: the values of its JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    command: &'static str,
    values: Map<String, Value>,
}

/// The protocol of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtocolInfo {
    /// `pfsdp`.
    pub name: String,
    /// Major and minor version.
    pub version: (u64, u64),
}

/// A handle for scan data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handle {
    /// Its name.
    pub handle: String,
    /// The port of a TCP handle.
    pub port: Option<u16>,
}

impl Reply {
    /// Reads the reply to a command.
    ///
    /// # Errors
    ///
    /// [`Error::HttpStatus`], [`Error::BadReply`] for damaged JSON or one without an error code, and
    /// [`Error::Refused`] with the device's own words.
    pub fn read(command: &Command, response: &Response) -> Result<Self> {
        if response.status != 200 {
            return Err(Error::HttpStatus {
                command: command.to_string(),
                status: response.status,
            });
        }
        let reply = Self::parse(command, &response.body)?;
        let code = reply.number("error_code")?;
        let code = ErrorCode(i64::try_from(code).unwrap_or(i64::MAX));
        if code == ErrorCode::SUCCESS {
            return Ok(reply);
        }
        let text = reply.text("error_text").unwrap_or_default();
        let target = command.target();
        Err(Error::Refused {
            // With its values: one of them is what the device does not like.
            command: target.trim_start_matches("/cmd/").to_owned(),
            code,
            text,
        })
    }

    fn parse(command: &Command, body: &[u8]) -> Result<Self> {
        let bad = |why: String| Error::BadReply {
            command: command.to_string(),
            why,
        };
        let value: Value = serde_json::from_slice(body)
            .map_err(|error| bad(format!("{error}, in {} bytes", body.len())))?;
        match value {
            Value::Object(values) => Ok(Self {
                command: command.name(),
                values,
            }),
            _ => Err(bad("it is no JSON object".to_owned())),
        }
    }

    /// A value as text; numbers are written out.
    pub fn text(&self, name: &str) -> Option<String> {
        match self.values.get(name)? {
            Value::String(text) => Some(text.clone()),
            value @ (Value::Number(_) | Value::Bool(_)) => Some(value.to_string()),
            _ => None,
        }
    }

    /// A value as a whole number; devices send numbers as numbers and as text.
    ///
    /// # Errors
    ///
    /// [`Error::BadReply`] if it is missing or none.
    pub fn number(&self, name: &str) -> Result<u64> {
        let value = self.values.get(name);
        let number = match value {
            Some(Value::Number(number)) => number.as_u64(),
            Some(Value::String(text)) => text.trim().parse().ok(),
            _ => None,
        };
        number.ok_or_else(|| self.wrong(name, value, "a whole number"))
    }

    /// A value as a number; none if it is missing or no number.
    pub fn float(&self, name: &str) -> Option<f64> {
        match self.values.get(name)? {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    /// A value as a list of texts.
    ///
    /// # Errors
    ///
    /// [`Error::BadReply`] if it is missing or none.
    pub fn list(&self, name: &str) -> Result<Vec<String>> {
        let value = self.values.get(name);
        let Some(Value::Array(items)) = value else {
            return Err(self.wrong(name, value, "a list"));
        };
        Ok(items
            .iter()
            .filter_map(|item| item.as_str().map(str::to_owned))
            .collect())
    }

    /// A value of any type as text; the items of a list are separated by semicolons.
    ///
    /// # Errors
    ///
    /// [`Error::BadReply`] if it is missing.
    pub fn joined(&self, name: &str) -> Result<String> {
        let word = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        match self.values.get(name) {
            None => Err(self.missing(name)),
            Some(Value::Array(items)) => Ok(items.iter().map(word).collect::<Vec<_>>().join(";")),
            Some(value) => Ok(word(value)),
        }
    }

    /// The reply to [`Command::GetProtocolInfo`].
    ///
    /// # Errors
    ///
    /// [`Error::BadReply`] if something is missing.
    pub fn protocol(&self) -> Result<ProtocolInfo> {
        let name = self.text("protocol_name");
        Ok(ProtocolInfo {
            name: name.ok_or_else(|| self.missing("protocol_name"))?,
            version: (self.number("version_major")?, self.number("version_minor")?),
        })
    }

    /// The reply to a request for a handle.
    ///
    /// # Errors
    ///
    /// [`Error::BadReply`] if something is missing.
    pub fn handle(&self) -> Result<Handle> {
        let handle = self.text("handle");
        let port = match self.values.get("port") {
            None => None,
            value @ Some(_) => {
                let port = u16::try_from(self.number("port")?)
                    .ok()
                    .filter(|port| *port > 0);
                Some(port.ok_or_else(|| self.wrong("port", value, "a port"))?)
            }
        };
        Ok(Handle {
            handle: handle.ok_or_else(|| self.missing("handle"))?,
            port,
        })
    }

    /// The error for a missing value.
    pub(crate) fn missing(&self, name: &str) -> Error {
        self.bad(format!("{name} is missing"))
    }

    fn wrong(&self, name: &str, value: Option<&Value>, wanted: &str) -> Error {
        let Some(value) = value else {
            return self.missing(name);
        };
        let found: String = value.to_string().chars().take(40).collect();
        self.bad(format!("{name} is {found}, expected {wanted}"))
    }

    fn bad(&self, why: String) -> Error {
        Error::BadReply {
            command: self.command.to_owned(),
            why,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<Reply> {
        let response = Response {
            status: 200,
            keep_alive: true,
            body: body.as_bytes().to_vec(),
        };
        Reply::read(&Command::GetProtocolInfo, &response)
    }

    #[test]
    fn replies_give_their_values() {
        let text = r#"{"error_code":0,"error_text":"success","handle":"s10","port":"2111",
            "system_time_raw":18446744073709551615,"scan_frequency":35.0,"parameters":["a","b"]}"#;
        let reply = read(text).unwrap();
        assert_eq!(reply.number("system_time_raw").unwrap(), u64::MAX);
        assert_eq!(reply.float("scan_frequency"), Some(35.0));
        assert_eq!(reply.list("parameters").unwrap(), ["a", "b"]);
        assert_eq!(reply.joined("parameters").unwrap(), "a;b");
        assert_eq!(reply.joined("scan_frequency").unwrap(), "35.0");
        assert!(reply.joined("speed").is_err());
        assert_eq!(reply.handle().unwrap().port, Some(2_111));
        let error = reply.number("handle").unwrap_err().to_string();
        assert_eq!(
            error,
            "get_protocol_info: invalid reply: handle is \"s10\", expected a whole number"
        );
    }

    #[test]
    fn a_refusal_names_the_values_that_were_refused() {
        let response = Response {
            status: 200,
            keep_alive: true,
            body: br#"{"error_code":210,"error_text":"Value out of range"}"#.to_vec(),
        };
        let set = Command::SetParameters(vec![("scan_frequency".into(), "9999".into())]);
        let error = Reply::read(&set, &response).unwrap_err().to_string();
        assert_eq!(
            error,
            "set_parameter?scan_frequency=9999: the device refused: \"Value out of range\" \
             (error code 210, value out of range)"
        );
    }

    #[test]
    fn errors_contain_the_text_of_the_device() {
        let error = read(r#"{"error_code":120,"error_text":"Invalid handle"}"#).unwrap_err();
        assert_eq!(
            error.to_string(),
            "get_protocol_info: the device refused: \"Invalid handle\" (error code 120, invalid handle or no handle)"
        );
        let error = read("{\"error_code\":0,\"err").unwrap_err().to_string();
        assert!(
            error.starts_with("get_protocol_info: invalid reply: EOF"),
            "{error}"
        );
        for body in ["", "[]", "{}", "{\"error_code\":\"x\"}", "nul"] {
            assert!(matches!(read(body), Err(Error::BadReply { .. })), "{body}");
        }
    }
}
