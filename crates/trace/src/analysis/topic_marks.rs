use super::names::index;

/// The topics with publications, and those of them with tags.
#[derive(Debug, Default)]
pub(super) struct TopicMarks {
    published: Vec<bool>,
    tagged: Vec<bool>,
}

impl TopicMarks {
    pub(super) fn publish(&mut self, topic: u32) {
        set(&mut self.published, topic);
    }

    pub(super) fn tag(&mut self, topic: u32) {
        set(&mut self.tagged, topic);
    }

    pub(super) fn is_published(&self, topic: u32) -> bool {
        self.published.get(index(topic)).copied().unwrap_or(false)
    }

    pub(super) fn is_tagged(&self, topic: u32) -> bool {
        self.tagged.get(index(topic)).copied().unwrap_or(false)
    }

    pub(super) fn published(&self) -> impl Iterator<Item = u32> + '_ {
        let marks = (0..).zip(&self.published);
        marks.filter_map(|(topic, mark)| mark.then_some(topic))
    }
}

fn set(marks: &mut Vec<bool>, topic: u32) {
    let place = index(topic);
    if marks.len() <= place {
        marks.resize(place + 1, false);
    }
    if let Some(mark) = marks.get_mut(place) {
        *mark = true;
    }
}
