//! The frame of a file: magic, header, sections, footer.

use super::data_section::DataSection;
use super::fields::{Fields, HEAD, MAGIC, Record, op, records, wide};
use super::rule::{Rule, Violation};
use super::summary;

/// Footer record and closing magic.
const TAIL: usize = HEAD + 20 + MAGIC.len();

/// The index that a file must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// A summary, and message indexes behind all chunks: what `ros2 bag` needs for the order of log times.
    #[default]
    Indexed,
    /// The writer was asked to leave out the summary or the message indexes; `ros2 bag` then reads in file order.
    /// Still all chunks have message indexes, or none.
    Scannable,
}

/// Collects violations.
#[derive(Default)]
pub(super) struct Findings(pub(super) Vec<Violation>);

impl Findings {
    pub(super) fn add(&mut self, rule: Rule, text: impl Into<String>) {
        let text = text.into();
        self.0.push(Violation { rule, text });
    }

    /// Adds a violation unless a condition holds.
    pub(super) fn expect(&mut self, holds: bool, rule: Rule, text: impl FnOnce() -> String) {
        if !holds {
            self.add(rule, text());
        }
    }
}

/// Everything that is wrong with a file; empty when it keeps all rules.
pub fn violations(bytes: &[u8], layout: Layout) -> Vec<Violation> {
    let mut findings = Findings::default();
    check(bytes, layout, &mut findings);
    findings.0
}

fn check(bytes: &[u8], layout: Layout, findings: &mut Findings) {
    if bytes.len() < MAGIC.len() + TAIL {
        return findings.add(Rule::Footer, format!("only {} bytes", bytes.len()));
    }
    findings.expect(bytes.starts_with(&MAGIC), Rule::Magic, || {
        "at the start".into()
    });
    findings.expect(bytes.ends_with(&MAGIC), Rule::Magic, || "at the end".into());
    let tail_at = bytes.len() - TAIL;
    let Some(footer) = footer(&bytes[tail_at..]) else {
        return findings.add(Rule::Footer, format!("not a footer at byte {tail_at}"));
    };
    let (all, broken) = records(&bytes[MAGIC.len()..tail_at]);
    let all: Vec<Record<'_>> = all
        .into_iter()
        .map(|record| Record {
            at: record.at + MAGIC.len(),
            ..record
        })
        .collect();
    if let Some(at) = broken {
        let at = at + MAGIC.len();
        findings.add(Rule::RecordBounds, format!("record at byte {at}"));
    }
    let Some((header, rest)) = all.split_first() else {
        return findings.add(Rule::Header, "no record");
    };
    findings.expect(is_header(header), Rule::Header, || {
        format!("opcode {:#04x}", header.opcode)
    });
    let end = rest.iter().position(|record| record.opcode == op::DATA_END);
    let data = &rest[..end.unwrap_or(rest.len())];
    let data = DataSection::read(data, findings);
    data.check_indexes(layout, findings);
    let Some(end) = end else {
        return findings.add(Rule::DataEnd, "there is none");
    };
    data_end(bytes, &rest[end], findings);
    let frame = summary::Frame {
        bytes,
        records: &rest[end + 1..],
        data_end: wide(rest[end].at) + rest[end].length(),
        tail_at,
        footer,
    };
    summary::check(&frame, &data, layout, findings);
}

fn is_header(record: &Record<'_>) -> bool {
    let mut fields = Fields(record.body);
    record.opcode == op::HEADER && fields.text().is_some() && fields.text().is_some()
}

/// Start of the summary, start of the summary offsets, checksum.
pub(super) type Footer = (u64, u64, u32);

fn footer(tail: &[u8]) -> Option<Footer> {
    let mut fields = Fields(tail);
    let is_footer = fields.u8()? == op::FOOTER && fields.u64()? == 20;
    is_footer.then_some(())?;
    Some((fields.u64()?, fields.u64()?, fields.u32()?))
}

fn data_end(bytes: &[u8], record: &Record<'_>, findings: &mut Findings) {
    let crc = Fields(record.body).u32();
    findings.expect(record.body.len() == 4, Rule::DataEnd, || {
        format!("{} bytes", record.body.len())
    });
    let actual = crc32fast::hash(&bytes[..record.at]);
    findings.expect(
        crc.is_none_or(|crc| crc == 0 || crc == actual),
        Rule::DataCrc,
        || format!("{crc:08x?}, the bytes have {actual:08x}"),
    );
}
