use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::Failure;
use crate::fault::Fault;

/// The options of the campaign.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) minutes: f64,
    pub(crate) seed: u64,
    /// Number of pairs of hosts.
    pub(crate) workers: u64,
    /// Only faults whose names begin with this.
    pub(crate) only: String,
    /// A few cases for `make test`; skipped where namespaces are not allowed.
    pub(crate) smoke: bool,
    /// Limit for the number of cases.
    pub(crate) cases: u64,
    pub(crate) timeloom: PathBuf,
    pub(crate) python: PathBuf,
    /// The directory for files of failed cases.
    pub(crate) keep: PathBuf,
}

/// The faults of the smoke test, one case each.
const SMOKE: [&str; 5] = [
    "link all at once",
    "peer kill -9",
    "disk full",
    "recorder kill -9",
    "player kill -9",
];

pub(crate) const USAGE: &str = "\
usage: timeloom-chaos [--minutes 5] [--seed N] [--workers 3] [--only FAULT] [--cases N] [--smoke]
                      [--timeloom BINARY] [--python PYTHON] [--keep DIRECTORY]

--smoke is one case of a few faults, and none where namespaces are not allowed. PYTHON has cyclonedds and mcap (default: $TIMELOOM_PYTHON).";

impl Options {
    /// Number of cases of a fault per deck.
    pub(crate) fn share(&self, fault: &Fault) -> u64 {
        if self.smoke {
            u64::from(SMOKE.contains(&fault.name))
        } else if fault.name.starts_with(&self.only) {
            fault.share
        } else {
            0
        }
    }

    pub(crate) fn read(mut arguments: impl Iterator<Item = OsString>) -> Result<Self, Failure> {
        let python = std::env::var_os("TIMELOOM_PYTHON").unwrap_or("python3".into());
        let mut options = Self {
            minutes: 5.0,
            seed: 0,
            workers: 3,
            only: String::new(),
            smoke: false,
            cases: u64::MAX,
            timeloom: beside_us()?,
            python: python.into(),
            keep: std::env::temp_dir().join("timeloom-chaos"),
        };
        let (mut seed, mut smoke) = (None, false);
        while let Some(flag) = arguments.next() {
            let mut value = || {
                let value = arguments.next();
                value.ok_or_else(|| Failure::from(format!("{} needs a value", flag.display())))
            };
            match flag.to_str() {
                Some("--minutes") => options.minutes = number(&value()?)?,
                Some("--seed") => seed = Some(number(&value()?)?),
                Some("--workers") => options.workers = number(&value()?)?,
                Some("--cases") => options.cases = number(&value()?)?,
                Some("--only") => options.only = value()?.to_string_lossy().into_owned(),
                Some("--smoke") => smoke = true,
                Some("--timeloom") => options.timeloom = value()?.into(),
                Some("--python") => options.python = value()?.into(),
                Some("--keep") => options.keep = value()?.into(),
                _ => return Err(format!("{} is unknown\n{USAGE}", flag.display()).into()),
            }
        }
        if smoke {
            options.smoke = true;
            (options.workers, options.cases) = (2, SMOKE.len() as u64);
            seed = seed.or(Some(1));
        }
        options.seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
        options.timeloom = std::path::absolute(&options.timeloom)?;
        if !options.timeloom.exists() {
            let text = format!("{} is not there: build it", options.timeloom.display());
            return Err(text.into());
        }
        Ok(options)
    }
}

fn number<T: std::str::FromStr>(text: &OsString) -> Result<T, Failure> {
    let parsed = text.to_str().and_then(|text| text.parse().ok());
    parsed.ok_or_else(|| format!("{} is not a number\n{USAGE}", text.display()).into())
}

/// The binary that was built with this program.
fn beside_us() -> Result<PathBuf, Failure> {
    let here = std::env::current_exe()?;
    Ok(here.parent().unwrap_or(Path::new(".")).join("timeloom"))
}
