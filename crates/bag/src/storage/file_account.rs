//! The account that a file keeps of itself.

use crate::metadata::TopicRecord;
use crate::metadata::saved_account::SavedAccount;
use crate::{BagMetadata, LossCause, TopicAccount, TopicInfo, TopicStatistics};

/// The account of the messages that are missing in a file.
///
/// A finished file has it in its embedded metadata. A file that was never finished has the accounts that its writer
/// saved meanwhile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileAccount {
    /// The topics with their accounts; for an interrupted file, only missing messages.
    pub topics: Vec<TopicRecord>,
    /// Whether the recorder did not finish the file: losses after the last saved account are unknown. A recovered
    /// file keeps this.
    pub interrupted: bool,
    /// Whether the recorder counted missing messages: else those of topics without an account are unknown.
    pub counts_missing: bool,
}

impl FileAccount {
    /// The account of the topic; for an interrupted file, further missing messages are unknown.
    pub fn topic(&self, topic: &TopicInfo) -> TopicAccount {
        let same = |record: &&TopicRecord| {
            record.topic.name == topic.name && record.topic.type_name == topic.type_name
        };
        let record = self.topics.iter().find(same);
        let account = record.and_then(TopicRecord::account);
        let mut account = account.unwrap_or_else(|| TopicAccount {
            statistics: if self.counts_missing {
                TopicStatistics::default()
            } else {
                TopicStatistics::uncounted()
            },
            ..TopicAccount::default()
        });
        account.statistics.unknown.interrupted |= self.interrupted;
        account
    }

    /// The account of the topics of a file that holds these messages, and of the topics that are only in the account.
    ///
    /// Messages that the account of a finished file counts and the file no longer holds are lost in the storage.
    pub(crate) fn with_messages(
        &self,
        topics: Vec<TopicInfo>,
        recorded: &[TopicStatistics],
    ) -> Vec<(TopicInfo, TopicAccount)> {
        let mut content: Vec<_> = topics
            .into_iter()
            .zip(recorded)
            .map(|(topic, recorded)| {
                let mut account = self.topic(&topic);
                let claimed = account.statistics.messages_recorded;
                let gone = claimed.saturating_sub(recorded.messages_recorded);
                account.statistics = account.statistics.missing_only();
                account.statistics.merge(recorded);
                let lost = &mut account.statistics.lost_in_recorder;
                lost.add(LossCause::Storage, gone);
                (topic, account)
            })
            .collect();
        for record in &self.topics {
            let is_it = |topic: &TopicInfo| {
                topic.name == record.topic.name && topic.type_name == record.topic.type_name
            };
            if !content.iter().any(|(topic, _)| is_it(topic)) {
                let mut account = self.topic(&record.topic);
                let gone = account.statistics.messages_recorded;
                account.statistics = account.statistics.missing_only();
                let lost = &mut account.statistics.lost_in_recorder;
                lost.add(LossCause::Storage, gone);
                content.push((record.topic.clone(), account));
            }
        }
        content
    }

    /// The account of a file with this embedded metadata and these saved accounts, oldest first.
    ///
    /// `ends` is whether the file has its end.
    pub(crate) fn of_file(
        embedded: Option<&BagMetadata>,
        ends: bool,
        saved: impl IntoIterator<Item = String>,
    ) -> Option<Self> {
        if let Some(finished) = embedded.filter(|embedded| embedded.is_finished()) {
            return Self::of_finished(finished);
        }
        if ends && embedded.is_none_or(|embedded| !embedded.is_unfinished()) {
            return None;
        }
        let mut counts_missing = embedded.is_some_and(BagMetadata::is_open);
        let mut account = SavedAccount::default();
        for text in saved {
            // A damaged account is skipped; the next one has the same counts or newer ones.
            account.absorb(&text).unwrap_or_default();
            counts_missing = true;
        }
        Some(Self {
            topics: account.topics,
            interrupted: true,
            counts_missing,
        })
    }

    fn of_finished(metadata: &BagMetadata) -> Option<Self> {
        // A file that embeds the metadata of a whole bag has no account of its own.
        let alone = metadata.files.len() == 1;
        let topics = metadata.topics.iter();
        let topics: Vec<_> = topics
            .filter(|record| alone && record.statistics.is_some())
            .cloned()
            .collect();
        let interrupted = alone && metadata.is_interrupted();
        (interrupted || !topics.is_empty()).then_some(Self {
            counts_missing: !topics.is_empty(),
            topics,
            interrupted,
        })
    }
}
