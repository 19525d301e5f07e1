//! One parameter on its way to the flag that means the same.

use std::path::PathBuf;
use std::str::FromStr;

use fancy_regex::Regex;
use timeloom_node::ParameterValue;

use crate::failure::Failure;

/// A parameter of a file. Flags win over it; empty texts and lists are ignored, as in rosbag2.
pub(crate) struct Given<'a> {
    pub(crate) key: &'a str,
    pub(crate) value: &'a ParameterValue,
}

impl<'a> Given<'a> {
    pub(crate) fn wrong(&self, expected: &str) -> Failure {
        Failure::usage(format!(
            "parameter {}: expected {expected}, not {} ({})",
            self.key,
            self.value,
            self.value.type_name()
        ))
    }

    pub(crate) fn flag(&self, slot: &mut bool) -> Result<(), Failure> {
        match self.value {
            ParameterValue::Bool(value) => *slot |= value,
            ParameterValue::NotSet => {}
            _ => return Err(self.wrong("true or false")),
        }
        Ok(())
    }

    pub(crate) fn string(&self) -> Result<&'a str, Failure> {
        match self.value {
            ParameterValue::String(text) => Ok(text),
            ParameterValue::NotSet => Ok(""),
            _ => Err(self.wrong("text")),
        }
    }

    fn strings(&self) -> Result<&'a [String], Failure> {
        match self.value {
            ParameterValue::Strings(items) => Ok(items),
            ParameterValue::NotSet => Ok(&[]),
            // An empty list has no element type.
            ParameterValue::Bytes(items) if items.is_empty() => Ok(&[]),
            ParameterValue::Bools(items) if items.is_empty() => Ok(&[]),
            ParameterValue::Integers(items) if items.is_empty() => Ok(&[]),
            ParameterValue::Doubles(items) if items.is_empty() => Ok(&[]),
            // The way to write an empty list where YAML has none.
            ParameterValue::String(text) if text.is_empty() => Ok(&[]),
            _ => Err(self.wrong("a list of texts")),
        }
    }

    /// A word that is read as a flag's value would be.
    pub(crate) fn parsed<T>(
        &self,
        slot: &mut Option<T>,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<(), Failure> {
        let text = match self.value {
            ParameterValue::Integer(number) => number.to_string(),
            ParameterValue::Double(number) => number.to_string(),
            _ => self.string()?.to_owned(),
        };
        if !text.is_empty() {
            let wrong = |reason| Failure::usage(format!("parameter {}: {reason}", self.key));
            let value = parse(&text).map_err(wrong)?;
            slot.get_or_insert(value);
        }
        Ok(())
    }

    pub(crate) fn text(&self, slot: &mut Option<String>) -> Result<(), Failure> {
        let text = self.string()?;
        if !text.is_empty() {
            slot.get_or_insert_with(|| text.to_owned());
        }
        Ok(())
    }

    pub(crate) fn path(&self, slot: &mut Option<PathBuf>) -> Result<(), Failure> {
        let text = self.string()?;
        if !text.is_empty() {
            slot.get_or_insert_with(|| PathBuf::from(text));
        }
        Ok(())
    }

    pub(crate) fn regex(&self, slot: &mut Option<Regex>) -> Result<(), Failure> {
        let text = self.string()?;
        if !text.is_empty() && slot.is_none() {
            let regex = Regex::new(text);
            *slot = Some(regex.map_err(|error| {
                Failure::usage(format!("parameter {}: `{text}`: {error}", self.key))
            })?);
        }
        Ok(())
    }

    pub(crate) fn list(&self, slot: &mut Vec<String>) -> Result<(), Failure> {
        let items = self.strings()?;
        if slot.is_empty() {
            let items = items.iter().filter(|item| !item.is_empty());
            *slot = items.cloned().collect();
        }
        Ok(())
    }

    /// A list of KEY=VALUE.
    pub(crate) fn pairs<T: FromStr>(&self, slot: &mut Vec<T>) -> Result<(), Failure> {
        let mut texts = Vec::new();
        self.list(&mut texts)?;
        if slot.is_empty() {
            let pairs = texts.iter().map(|text| {
                let pair = text.parse::<T>();
                pair.map_err(|_reason| self.wrong("a list of KEY=VALUE"))
            });
            *slot = pairs.collect::<Result<_, _>>()?;
        }
        Ok(())
    }

    pub(crate) fn whole<T: TryFrom<i64>>(&self) -> Result<T, Failure> {
        let number = match self.value {
            ParameterValue::Integer(number) => T::try_from(*number).ok(),
            _ => None,
        };
        number.ok_or_else(|| self.wrong("a whole number in range"))
    }

    pub(crate) fn number<T: TryFrom<i64>>(&self, slot: &mut Option<T>) -> Result<(), Failure> {
        let number = self.whole()?;
        slot.get_or_insert(number);
        Ok(())
    }

    /// A number from 1; zero is ignored.
    pub(crate) fn positive<T: TryFrom<i64>>(&self, slot: &mut Option<T>) -> Result<(), Failure> {
        if self.whole::<i64>()? != 0 {
            self.number(slot)?;
        }
        Ok(())
    }

    pub(crate) fn real(&self, slot: &mut Option<f64>) -> Result<(), Failure> {
        let number = match self.value {
            ParameterValue::Double(number) => *number,
            ParameterValue::Integer(number) => *number as f64,
            _ => return Err(self.wrong("a number")),
        };
        slot.get_or_insert(number);
        Ok(())
    }

    /// Seconds, kept in nanoseconds.
    pub(crate) fn seconds(&self, slot: &mut Option<i64>) -> Result<(), Failure> {
        let mut seconds = None;
        self.real(&mut seconds)?;
        let span = seconds
            .and_then(timeloom_time::Duration::try_from_secs_f64)
            .filter(|span| !span.is_negative());
        let span = span.ok_or_else(|| self.wrong("seconds from 0"))?;
        slot.get_or_insert(span.nanos());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(value: &ParameterValue) -> Given<'_> {
        Given {
            key: "record.x",
            value,
        }
    }

    #[test]
    fn flags_count_more_than_files() {
        let value = ParameterValue::Integer(7);
        let mut slot = Some(3_u64);
        given(&value).number(&mut slot).unwrap();
        assert_eq!(slot, Some(3));
        let mut slot = None;
        given(&value).number(&mut slot).unwrap();
        assert_eq!(slot, Some(7_u64));
        let mut list = vec!["/a".to_owned()];
        let value = ParameterValue::Strings(vec!["/b".to_owned()]);
        given(&value).list(&mut list).unwrap();
        assert_eq!(list, ["/a"]);
    }

    #[test]
    fn empty_values_are_ignored() {
        let value = ParameterValue::String(String::new());
        let (mut text, mut regex, mut list) = (None, None, Vec::new());
        given(&value).text(&mut text).unwrap();
        given(&value).regex(&mut regex).unwrap();
        given(&value).list(&mut list).unwrap();
        assert!(text.is_none() && regex.is_none() && list.is_empty());
        let mut number = None::<u32>;
        given(&ParameterValue::Integer(0))
            .positive(&mut number)
            .unwrap();
        assert_eq!(number, None);
    }

    #[test]
    fn values_of_a_wrong_type_are_named() {
        let value = ParameterValue::Integer(-1);
        let error = given(&value).number(&mut None::<u64>).unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with("parameter record.x: expected a whole number in range, not -1"),
            "{text}"
        );
        let value = ParameterValue::Double(1.5);
        let mut span = None;
        given(&value).seconds(&mut span).unwrap();
        assert_eq!(span, Some(1_500_000_000));
        assert!(
            given(&ParameterValue::Double(f64::NAN))
                .seconds(&mut None)
                .is_err()
        );
    }
}
