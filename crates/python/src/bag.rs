//! One or several bags that are read as one.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyType};
use timeloom_bag::storage::FileInfo;
use timeloom_bag::{BagReader, Place, Query, StorageReader as _, TopicAccount, TopicId};
use timeloom_columns::{Batch, TopicReader, TopicRequest, Undecoded, lost_in, stream_bytes};
use timeloom_remote::{RemoteOptions, RemotePlace};

use crate::account;
use crate::errors;
use crate::mapped::MappedRows;
use crate::message_type::{MessageType, resolver};
use crate::messages::Messages;
use crate::numpy::{self, ByteRows};
use crate::records::{RecordType, Records};

/// The bags behind `timeloom.Bag`.
#[pyclass(module = "timeloom._native", frozen)]
pub(crate) struct NativeBag {
    paths: Vec<PathBuf>,
    place: Arc<dyn Place>,
    info: FileInfo,
    accounts: Vec<Option<TopicAccount>>,
    interrupted: bool,
    types: Vec<OnceLock<Result<Arc<timeloom_msg::Schema>, String>>>,
}

/// The place of all bags, so that what was fetched once is shared.
pub(crate) fn place() -> Arc<dyn Place> {
    static PLACE: OnceLock<Arc<RemotePlace>> = OnceLock::new();
    let place = PLACE.get_or_init(|| Arc::new(RemotePlace::new(RemoteOptions::default())));
    Arc::<RemotePlace>::clone(place)
}

impl NativeBag {
    pub(crate) fn reader(&self, py: Python<'_>) -> PyResult<BagReader> {
        let opened = py.detach(|| BagReader::open_in(Arc::clone(&self.place), &self.paths));
        opened.map_err(|error| errors::bag(py, &error))
    }

    pub(crate) fn topic_reader(
        &self,
        py: Python<'_>,
        request: &TopicRequest,
    ) -> PyResult<TopicReader> {
        let reader = TopicReader::new(self.reader(py)?, &resolver(), request);
        reader.map_err(|error| errors::table(py, &error))
    }

    pub(crate) fn schema(&self, topic: usize) -> Result<Arc<timeloom_msg::Schema>, String> {
        let (Some(info), Some(cell)) = (self.info.topics.get(topic), self.types.get(topic)) else {
            return Err(format!("there is no topic number {topic}"));
        };
        let find = || {
            let found = info.schema(&resolver().for_distro(&self.info.ros_distro));
            found.map(Arc::new).map_err(|error| error.to_string())
        };
        cell.get_or_init(find).clone()
    }

    /// A reader of topics by their numbers, in the order of log times; `end` is not part of it.
    pub(crate) fn started(
        &self,
        py: Python<'_>,
        topics: Option<Vec<usize>>,
        start: Option<i64>,
        end: Option<i64>,
    ) -> PyResult<BagReader> {
        let mut reader = self.reader(py)?;
        let ids = |topics: Vec<usize>| topics.into_iter().filter_map(TopicId::from_index).collect();
        let query = Query {
            topics: topics.map(ids),
            start_ns: start,
            end_ns: end.map(|end| end.saturating_sub(1)),
            ..Query::default()
        };
        py.detach(|| reader.start(&query))
            .map_err(|error| errors::bag(py, &error))?;
        Ok(reader)
    }

    /// A reader for topics with large arrays of bytes; `None` for others.
    fn mapped(
        &self,
        py: Python<'_>,
        request: &TopicRequest,
        empty: &Batch,
    ) -> PyResult<Option<MappedRows>> {
        let found = request.find(&self.info.topics);
        let index = found.map_err(|error| errors::table(py, &error))?;
        let Ok(schema) = self.schema(index) else {
            return Ok(None);
        };
        if !MappedRows::is_for(&schema, empty) {
            return Ok(None);
        }
        let mut reader = self.reader(py)?;
        let query = Query {
            topics: Some(TopicId::from_index(index).into_iter().collect()),
            start_ns: request.start_ns,
            end_ns: request.end_ns,
            ..Query::default()
        };
        py.detach(|| reader.start(&query))
            .map_err(|error| errors::bag(py, &error))?;
        MappedRows::new(py, reader, &query, &schema, empty, self.lost())
    }

    /// Damage that was found at opening and costs messages.
    pub(crate) fn lost(&self) -> Vec<String> {
        lost_in(&self.info.damage)
    }

    fn topic<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let Some(topic) = self.info.topics.get(index) else {
            return Ok(dict);
        };
        dict.set_item("name", &topic.name)?;
        dict.set_item("type", &topic.type_name)?;
        dict.set_item("count", self.info.message_counts.get(index))?;
        dict.set_item("serialization_format", &topic.serialization_format)?;
        dict.set_item("offered_qos_profiles", &topic.offered_qos_profiles)?;
        dict.set_item("type_hash", &topic.type_description_hash)?;
        dict.set_item("definition", &topic.definition.text)?;
        dict.set_item("definition_format", &topic.definition.encoding)?;
        let account = self.accounts.get(index).and_then(Option::as_ref);
        let account = account
            .map(|account| account::account(py, account))
            .transpose()?;
        dict.set_item("losses", account)?;
        Ok(dict)
    }
}

#[pymethods]
impl NativeBag {
    #[new]
    fn new(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<Self> {
        let place = place();
        let reader = py.detach(|| BagReader::open_in(Arc::clone(&place), &paths));
        let reader = reader.map_err(|error| errors::bag(py, &error))?;
        let info = reader.info().clone();
        Ok(Self {
            types: info.topics.iter().map(|_| OnceLock::new()).collect(),
            accounts: reader.accounts().to_vec(),
            interrupted: reader.is_interrupted(),
            paths,
            place,
            info,
        })
    }

    /// What the bags hold.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let info = &self.info;
        let dict = PyDict::new(py);
        dict.set_item("start_time", info.start_time_ns)?;
        dict.set_item("end_time", info.end_time_ns)?;
        dict.set_item("ros_distro", &info.ros_distro)?;
        dict.set_item("size", info.file_size)?;
        dict.set_item("damage", &info.damage)?;
        dict.set_item("interrupted", self.interrupted)?;
        let topics = (0..info.topics.len()).map(|index| self.topic(py, index));
        dict.set_item("topics", topics.collect::<PyResult<Vec<_>>>()?)?;
        Ok(dict)
    }

    /// The type of a topic by its number.
    fn message_type(&self, py: Python<'_>, topic: usize) -> PyResult<MessageType> {
        let schema = self.schema(topic);
        schema
            .map(|schema| MessageType::of(py, schema))
            .map_err(|text| errors::payload(py, &text))
    }

    /// The payloads of topics by their numbers, in the order of their log times; `end` is not part of it.
    fn messages(
        &self,
        py: Python<'_>,
        topics: Option<Vec<usize>>,
        start: Option<i64>,
        end: Option<i64>,
    ) -> PyResult<Messages> {
        let reader = self.started(py, topics, start, end)?;
        Ok(Messages::new(reader, self.lost()))
    }

    /// The same decoded, each as a `record` of topic, log time, publish time and message; `strict` raises at the end if
    /// something could not be read.
    fn records(
        &self,
        py: Python<'_>,
        topics: Option<Vec<usize>>,
        start: Option<i64>,
        end: Option<i64>,
        record: Bound<'_, PyType>,
        strict: bool,
    ) -> PyResult<Records> {
        let messages = self.messages(py, topics, start, end)?;
        let types = self.info.topics.iter().enumerate().map(|(index, topic)| {
            let schema = self.schema(index);
            RecordType {
                topic: PyString::new(py, &topic.name).unbind(),
                ty: schema.map(|schema| MessageType::of(py, schema)),
            }
        });
        Records::new(py, messages, types.collect(), record, strict)
    }

    /// The fields of a topic as numpy arrays by name; what could not be read, and how many could not be decoded, why.
    fn to_numpy<'py>(
        &self,
        py: Python<'py>,
        request: Request,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyDict>, Vec<String>, u64, String)> {
        let mut request = request.0;
        request.undecoded = Undecoded::LeaveOut;
        let mut reader = self.topic_reader(py, &request)?;
        let empty = reader.empty();
        if let Some(mut mapped) = self.mapped(py, &request, &empty)? {
            let arrays = mapped.arrays(py, progress)?;
            let (undecoded, reason) = mapped.undecoded();
            return Ok((arrays, mapped.unread().to_vec(), undecoded, reason));
        }
        let mut bytes = ByteRows::new(py, &empty);
        let mut batches = vec![empty];
        read_all(py, &mut reader, progress, |mut batch| {
            bytes.take(py, &mut batch)?;
            batches.push(batch);
            Ok(())
        })?;
        let arrays = numpy::arrays(py, batches, &bytes)?;
        let (undecoded, reason) = reader.undecoded();
        Ok((
            arrays,
            reader.unread().to_vec(),
            undecoded,
            reason.to_owned(),
        ))
    }

    /// The rows of a topic as an Arrow stream; what could not be read, and how many could not be decoded, why.
    fn to_arrow<'py>(
        &self,
        py: Python<'py>,
        request: Request,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyBytes>, Vec<String>, u64, String)> {
        let Request(request) = request;
        let mut reader = self.topic_reader(py, &request)?;
        let schema = reader.empty().schema();
        let mut batches = Vec::new();
        let failed = |error| errors::table(py, &error);
        read_all(py, &mut reader, progress, |batch| {
            batches.push(batch.into_record_batch().map_err(failed)?);
            Ok(())
        })?;
        let stream = py
            .detach(|| stream_bytes(&schema, &batches))
            .map_err(failed)?;
        let (undecoded, reason) = reader.undecoded();
        let unread = reader.unread().to_vec();
        Ok((
            PyBytes::new(py, &stream),
            unread,
            undecoded,
            reason.to_owned(),
        ))
    }
}

/// Reads to the end without the lock of the interpreter; Ctrl-C ends it between two batches.
pub(crate) fn read_all<'py>(
    py: Python<'py>,
    reader: &mut TopicReader,
    progress: Option<&Bound<'py, PyAny>>,
    mut take: impl FnMut(Batch) -> PyResult<()>,
) -> PyResult<()> {
    loop {
        let batch = py.detach(|| reader.next_batch());
        py.check_signals()?;
        let Some(batch) = batch.map_err(|error| errors::table(py, &error))? else {
            return Ok(());
        };
        if let Some(progress) = progress {
            progress.call1((batch.len(),))?;
        }
        take(batch)?;
    }
}

/// What to read of a topic: its name, its type, fields, start and end; the end is not part of it.
pub(crate) struct Request(pub(crate) TopicRequest);

impl<'py> FromPyObject<'_, 'py> for Request {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        type Parts = (
            String,
            Option<String>,
            Option<Vec<String>>,
            Option<i64>,
            Option<i64>,
        );
        let (topic, type_name, fields, start_ns, end): Parts = object.extract()?;
        Ok(Self(TopicRequest {
            topic,
            type_name,
            fields,
            start_ns,
            end_ns: end.map(|end| end.saturating_sub(1)),
            undecoded: Undecoded::Null,
        }))
    }
}
