//! One or several bags that are read as one.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyString, PyType};
use timeloom_bag::storage::FileInfo;
use timeloom_bag::{BagReader, Place, Query, StorageReader as _, TopicAccount, TopicId};
use timeloom_columns::{Batch, TopicReader, TopicRequest, Undecoded, lost_in};
use timeloom_remote::{RemoteOptions, RemotePlace};

use crate::account;
use crate::arguments::Nanos;
use crate::arrow::{self, ArrowTable};
use crate::errors;
use crate::mapped::{self, ByteColumns, MappedRows};
use crate::message_type::{MessageType, resolver};
use crate::messages::Messages;
use crate::numpy::{self, ByteRows};
use crate::records::{RecordType, Records};
use crate::slices::{self, Plan};

/// The bags behind `timeloom.Bag`.
#[pyclass(module = "timeloom._native", frozen)]
pub(crate) struct NativeBag {
    paths: Vec<PathBuf>,
    place: Arc<dyn Place>,
    info: FileInfo,
    accounts: Vec<Option<TopicAccount>>,
    interrupted: bool,
    /// Whether several threads may read: each opens the bag, which must neither be fetched nor unpacked as a whole.
    is_shareable: bool,
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
        let reader = py.detach(|| self.open_topic(request));
        reader.map_err(|error| errors::table(py, &error))
    }

    pub(crate) fn open_topic(
        &self,
        request: &TopicRequest,
    ) -> timeloom_columns::Result<TopicReader> {
        let reader = BagReader::open_in(Arc::clone(&self.place), &self.paths)?;
        TopicReader::new(reader, &resolver(), request)
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

    /// How a topic is read.
    fn plan(&self, request: &TopicRequest) -> Plan {
        if self.is_shareable {
            Plan::new(&self.info, request)
        } else {
            Plan::on_one_thread(request)
        }
    }

    /// A reader of large arrays of bytes.
    fn mapped(&self, index: usize, columns: &ByteColumns) -> timeloom_columns::Result<MappedRows> {
        let query = Query {
            topics: Some(TopicId::from_index(index).into_iter().collect()),
            ..Query::default()
        };
        let reader = BagReader::open_in(Arc::clone(&self.place), &self.paths)?;
        MappedRows::new(reader, query, columns)
    }

    /// The columns of a topic with large messages, with their arrays of bytes as views; `None` for other topics.
    fn to_views<'py>(
        &self,
        py: Python<'py>,
        request: &TopicRequest,
        empty: &Batch,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<(Bound<'py, PyDict>, Vec<String>)>> {
        let failed = |error| errors::table(py, &error);
        let index = request.find(&self.info.topics).map_err(failed)?;
        let columns = self.schema(index).ok();
        let Some(columns) = columns.and_then(|schema| ByteColumns::find(schema, empty)) else {
            return Ok(None);
        };
        let open = || self.mapped(index, &columns);
        let plan = self.plan(request);
        let mut reader = py.detach(open).map_err(failed)?;
        if !py.detach(|| reader.is_large(request)).map_err(failed)? {
            return Ok(None);
        }
        let read = slices::read_all(py, &request.topic, &plan, reader, open, progress)?;
        let arrays = mapped::arrays(py, empty.clone(), read.parts)?;
        Ok(Some((arrays, read.lost)))
    }

    /// The rows of a topic, in batches; the reader has read nothing yet.
    fn batches<'py>(
        &self,
        py: Python<'py>,
        request: &TopicRequest,
        reader: TopicReader,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<slices::Read<Batch>> {
        let open = || self.open_topic(request);
        let plan = self.plan(request);
        slices::read_all(py, &request.topic, &plan, reader, open, progress)
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
            is_shareable: is_shareable(&reader),
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
        start: Option<Nanos>,
        end: Option<Nanos>,
    ) -> PyResult<Messages> {
        let nanos = |time: Option<Nanos>| time.map(|Nanos(time)| time);
        let reader = self.started(py, topics, nanos(start), nanos(end))?;
        Ok(Messages::new(reader, self.lost()))
    }

    /// The same decoded, each as a `record` of topic, log time, publish time and message; `strict` raises at the end if
    /// something could not be read.
    fn records(
        &self,
        py: Python<'_>,
        topics: Option<Vec<usize>>,
        start: Option<Nanos>,
        end: Option<Nanos>,
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

    /// The fields of a topic as numpy arrays by name, and what is missing, in words.
    fn to_numpy<'py>(
        &self,
        py: Python<'py>,
        request: Request,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyDict>, Vec<String>)> {
        let mut request = request.0;
        request.undecoded = Undecoded::LeaveOut;
        let reader = self.topic_reader(py, &request)?;
        let empty = reader.empty();
        if let Some(read) = self.to_views(py, &request, &empty, progress)? {
            return Ok(read);
        }
        let read = self.batches(py, &request, reader, progress)?;
        let mut bytes = ByteRows::new(py, &empty);
        let mut batches = vec![empty];
        for mut batch in read.parts {
            bytes.take(py, &mut batch)?;
            batches.push(batch);
        }
        Ok((numpy::arrays(py, batches, &bytes)?, read.lost))
    }

    /// The rows of a topic, and what is missing, in words.
    fn to_arrow<'py>(
        &self,
        py: Python<'py>,
        request: Request,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(ArrowTable, Vec<String>)> {
        let Request(request) = request;
        let reader = self.topic_reader(py, &request)?;
        let schema = reader.empty().schema();
        let read = self.batches(py, &request, reader, progress)?;
        let batches = read.parts.into_iter().map(Batch::into_record_batch);
        let batches = batches.collect::<Result<_, _>>();
        let batches = batches.map_err(|error| errors::table(py, &error))?;
        Ok((ArrowTable::new(schema, batches), read.lost))
    }

    /// The rows of a topic as an Arrow C stream that reads while it is used; damage is an error of the stream, at its end.
    fn arrow_stream<'py>(
        &self,
        py: Python<'py>,
        request: Request,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let Request(request) = request;
        arrow::read_on_demand(py, self.topic_reader(py, &request)?)
    }

    /// The columns of a topic as an Arrow C schema.
    fn arrow_schema<'py>(
        &self,
        py: Python<'py>,
        request: Request,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let Request(request) = request;
        let reader = self.topic_reader(py, &request)?;
        arrow::schema(py, &reader.empty().schema())
    }
}

/// Whether all files are on this machine and not compressed as a whole.
fn is_shareable(reader: &BagReader) -> bool {
    let is_packed = |path: &Path| path.extension().is_some_and(|end| end == "zstd");
    let mut files = reader.files();
    files.all(|(path, _)| path.exists() && !is_packed(path))
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
