//! Small tables of texts, numbers, times and flags as Parquet bytes, for rooms that keep a table of their own.

mod read;
mod text_values;
mod write;

pub use read::{PlainReader, read_plain};
pub use text_values::TextValues;
pub use write::PlainWriter;

use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainType {
    /// Text, each one stored once in a row group.
    Text,
    /// A number from 0 on.
    Number,
    /// Nanoseconds of UTC.
    Time,
    /// True or false.
    Flag,
}

/// The name and the type of a column.
pub type PlainColumn = (&'static str, PlainType);

/// The values of a column; each may be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlainValues {
    /// Texts.
    Text(TextValues),
    /// Numbers from 0 on.
    Number(Vec<Option<u64>>),
    /// Nanoseconds of UTC.
    Time(Vec<Option<i64>>),
    /// True or false.
    Flag(Vec<Option<bool>>),
}

impl PlainValues {
    /// No values of a type.
    pub fn new(of: PlainType) -> Self {
        match of {
            PlainType::Text => Self::Text(TextValues::default()),
            PlainType::Number => Self::Number(Vec::new()),
            PlainType::Time => Self::Time(Vec::new()),
            PlainType::Flag => Self::Flag(Vec::new()),
        }
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Text(values) => values.len(),
            Self::Number(values) => values.len(),
            Self::Time(values) => values.len(),
            Self::Flag(values) => values.len(),
        }
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn schema(columns: &[PlainColumn]) -> SchemaRef {
    let field = |(name, of): &PlainColumn| Field::new(*name, data_type(*of), true);
    SchemaRef::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

fn data_type(of: PlainType) -> DataType {
    match of {
        PlainType::Text => {
            DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
        }
        PlainType::Number => DataType::UInt64,
        PlainType::Time => DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())),
        PlainType::Flag => DataType::Boolean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [PlainColumn; 4] = [
        ("name", PlainType::Text),
        ("count", PlainType::Number),
        ("time", PlainType::Time),
        ("flag", PlainType::Flag),
    ];

    /// The same five rows, `times` times.
    fn rows(times: usize) -> Vec<PlainValues> {
        let mut texts = TextValues::default();
        for text in [Some("a"), None, Some("b"), Some("a"), Some("")].repeat(times) {
            texts.push(text);
        }
        let numbers = [Some(0), Some(u64::MAX), None, Some(7), Some(8)];
        let moments = [Some(i64::MIN), None, Some(0), Some(-1), Some(9)];
        let flags = [Some(true), Some(false), None, None, Some(true)];
        vec![
            PlainValues::Text(texts),
            PlainValues::Number(numbers.repeat(times)),
            PlainValues::Time(moments.repeat(times)),
            PlainValues::Flag(flags.repeat(times)),
        ]
    }

    fn written(rows: &[PlainValues]) -> Vec<u8> {
        let mut writer = PlainWriter::new(&COLUMNS).unwrap();
        writer.write(rows).unwrap();
        writer.write(rows).unwrap();
        writer.finish(vec![("key".into(), "value".into())]).unwrap()
    }

    fn texts(values: &PlainValues) -> Vec<Option<&str>> {
        match values {
            PlainValues::Text(texts) => (0..texts.len()).map(|row| texts.get(row)).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let reader = read_plain(written(&rows(1)).into(), &COLUMNS).unwrap();
        let pair = ("key".to_owned(), "value".to_owned());
        assert!(reader.metadata().contains(&pair), "{:?}", reader.metadata());
        let batches: Vec<Vec<PlainValues>> = reader.collect::<Result<_, _>>().unwrap();
        let [batch] = &batches[..] else {
            panic!("{} batches of few rows", batches.len());
        };
        assert_eq!(texts(&batch[0]), texts(&rows(2)[0]));
        assert_eq!(batch[1..], rows(2)[1..]);
    }

    #[test]
    fn other_tables_and_other_bytes_are_errors() {
        let bytes = written(&rows(1));
        let wanted = [("other", PlainType::Text)];
        assert!(read_plain(bytes.clone().into(), &wanted).is_err());
        let wanted = [("count", PlainType::Text)];
        assert!(read_plain(bytes.clone().into(), &wanted).is_err());
        assert!(read_plain(bytes::Bytes::from_static(b"PAR1"), &COLUMNS).is_err());
        for end in 0..bytes.len() {
            let cut = bytes::Bytes::copy_from_slice(&bytes[..end]);
            assert!(read_plain(cut, &COLUMNS).is_err(), "{end}");
        }
    }
}
