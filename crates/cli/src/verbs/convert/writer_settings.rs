//! How an output bag is written.

use std::path::PathBuf;

use clap::Args;
use timeloom_bag::mcap::McapCompression;
use timeloom_bag::{BagOptions, CompressionMode, StorageId, StorageOptions};

use crate::failure::Failure;
use crate::time_argument::span;

/// The flags, spelled as in `ros2 bag record`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output bag")]
pub(crate) struct WriterArguments {
    /// mcap or sqlite3 [default: mcap]
    #[arg(short, long, value_name = "STORAGE")]
    storage: Option<String>,
    /// Split files at this size: bytes, or 500MB, 1GiB …
    #[arg(short = 'b', long, value_name = "SIZE", value_parser = size)]
    max_bag_size: Option<u64>,
    /// Split files at this duration: seconds, or 10m, 1h …
    #[arg(short = 'd', long, value_name = "DURATION", value_parser = duration)]
    max_bag_duration: Option<i64>,
    /// Preset of the storage; `timeloom list storage -v` shows them
    #[arg(long, value_name = "PRESET")]
    storage_preset_profile: Option<String>,
    /// YAML file with options of the storage
    #[arg(long, value_name = "FILE")]
    storage_config_file: Option<PathBuf>,
    /// none, file or message
    #[arg(long, value_name = "MODE")]
    compression_mode: Option<String>,
    /// zstd
    #[arg(long, value_name = "FORMAT")]
    compression_format: Option<String>,
    /// 4 to 10; 10 is refused by strict readers; every version holds the account [default: that of the distribution, else 9]
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(u32).range(4..=10))]
    metadata_version: Option<u32>,
}

/// The same settings, wherever they come from.
#[derive(Debug, Clone, Default)]
pub(crate) struct WriterSettings {
    pub(crate) storage: String,
    pub(crate) preset: String,
    pub(crate) config_file: Option<PathBuf>,
    pub(crate) compression_mode: String,
    pub(crate) compression_format: String,
    pub(crate) compression_threads: usize,
    pub(crate) max_file_size: u64,
    pub(crate) max_file_duration_ns: i64,
    pub(crate) metadata_version: Option<u32>,
    pub(crate) custom_data: Vec<(String, String)>,
}

impl WriterArguments {
    pub(crate) fn settings(&self) -> WriterSettings {
        WriterSettings {
            storage: self.storage.clone().unwrap_or_default(),
            preset: self.storage_preset_profile.clone().unwrap_or_default(),
            config_file: self.storage_config_file.clone(),
            compression_mode: self.compression_mode.clone().unwrap_or_default(),
            compression_format: self.compression_format.clone().unwrap_or_default(),
            max_file_size: self.max_bag_size.unwrap_or(0),
            max_file_duration_ns: self.max_bag_duration.unwrap_or(0),
            metadata_version: self.metadata_version,
            ..WriterSettings::default()
        }
    }

    /// The flags that were given.
    pub(super) fn given_flags(&self) -> impl Iterator<Item = &'static str> {
        let flags = [
            ("--storage", self.storage.is_some()),
            ("--max-bag-size", self.max_bag_size.is_some()),
            ("--max-bag-duration", self.max_bag_duration.is_some()),
            (
                "--storage-preset-profile",
                self.storage_preset_profile.is_some(),
            ),
            ("--storage-config-file", self.storage_config_file.is_some()),
            ("--compression-mode", self.compression_mode.is_some()),
            ("--compression-format", self.compression_format.is_some()),
            ("--metadata-version", self.metadata_version.is_some()),
        ];
        flags
            .into_iter()
            .filter(|(_, given)| *given)
            .map(|(flag, _)| flag)
    }
}

impl WriterSettings {
    /// The options of the library, checked.
    pub(crate) fn bag_options(&self) -> anyhow::Result<BagOptions> {
        let storage = if self.storage.is_empty() {
            StorageId::Mcap
        } else {
            StorageId::from_name(&self.storage).map_err(Failure::invalid_value)?
        };
        let mut storage =
            StorageOptions::preset(storage, &self.preset).map_err(Failure::invalid_value)?;
        if let Some(path) = &self.config_file {
            storage.apply_config_file(path)?;
        }
        if let StorageOptions::Mcap(options) = &mut storage
            && options.compression != McapCompression::None
        {
            options.threads = self.threads();
        }
        let compression =
            CompressionMode::from_name(&self.compression_mode).map_err(Failure::invalid_value)?;
        match (self.compression_format.as_str(), compression) {
            ("" | "zstd", mode)
                if mode != CompressionMode::None || self.compression_format.is_empty() => {}
            ("zstd", _) => {
                let text = "a compression format needs a compression mode";
                return Err(Failure::usage(text)
                    .hint("add --compression-mode file or message")
                    .into());
            }
            (other, _) => {
                let text = format!("unknown compression format \"{other}\" (known: zstd)");
                return Err(Failure::usage(text).into());
            }
        }
        let mut options = BagOptions {
            storage,
            compression,
            max_file_size: self.max_file_size,
            max_file_duration_ns: self.max_file_duration_ns,
            custom_data: self.custom_data.clone(),
            ..BagOptions::default()
        };
        options.metadata_version = self.metadata_version;
        Ok(options)
    }

    /// 0 means as many as there are cores, as in rosbag2.
    fn threads(&self) -> usize {
        match self.compression_threads {
            0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            threads => threads,
        }
    }
}

/// Bytes, with or without a unit.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(digits).unwrap_or((text, ""));
    let factor = match unit.trim() {
        "" | "B" => Some(1),
        "kB" | "KB" => Some(1000),
        "MB" => Some(1_000_000),
        "GB" => Some(1_000_000_000),
        "K" | "k" | "KiB" => Some(1 << 10),
        "M" | "MiB" => Some(1 << 20),
        "G" | "GiB" => Some(1 << 30),
        _ => None,
    };
    let size = number
        .parse::<u64>()
        .ok()
        .zip(factor)
        .and_then(|(number, factor)| number.checked_mul(factor));
    size.ok_or_else(|| "expected bytes, or a number with kB, MB, GB, KiB, MiB or GiB".into())
}

pub(crate) fn duration(text: &str) -> Result<i64, String> {
    span(text).ok_or_else(|| "expected seconds, or a duration such as 90s, 10m or 1h30m".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_durations_take_units() {
        assert_eq!(
            (size("86016"), size("2GiB"), size("5MB")),
            (Ok(86_016), Ok(2 << 30), Ok(5_000_000))
        );
        assert!(
            ["", "x", "1.5G", "-1", "99999999999GiB"]
                .iter()
                .all(|text| size(text).is_err())
        );
        assert_eq!(
            (duration("90"), duration("1h30m")),
            (Ok(90_000_000_000), Ok(5_400_000_000_000))
        );
        assert!(duration("long").is_err());
    }

    #[test]
    fn settings_are_checked() {
        let error = |settings: WriterSettings| settings.bag_options().err().unwrap().to_string();
        let base = WriterSettings::default;
        assert!(base().bag_options().is_ok());
        assert!(
            error(WriterSettings {
                storage: "rosbag1".into(),
                ..base()
            })
            .contains("known: mcap, sqlite3")
        );
        assert!(
            error(WriterSettings {
                preset: "fast".into(),
                ..base()
            })
            .contains("zstd_fast")
        );
        assert!(
            error(WriterSettings {
                compression_mode: "all".into(),
                ..base()
            })
            .contains("none, file, message")
        );
        assert!(
            error(WriterSettings {
                compression_format: "zstd".into(),
                ..base()
            })
            .contains("needs a compression mode")
        );
        assert!(
            error(WriterSettings {
                compression_format: "lz4".into(),
                ..base()
            })
            .contains("known: zstd")
        );
    }
}
