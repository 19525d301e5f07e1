// A foreign DDS participant for the interop tests: eProsima Fast DDS, with raw payloads.
//
// Reads one command per line, answers with one JSON line. Services follow rmw_fastrtps: the request names the client's
// reader of replies as related sample identity, the reply repeats it with the number of the request.

#include <unistd.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/publisher/qos/DataWriterQos.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/subscriber/qos/DataReaderQos.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastrtps/utils/IPLocator.h>

using namespace eprosima::fastdds::dds;
namespace rtps = eprosima::fastrtps::rtps;
using eprosima::fastrtps::Duration_t;
using eprosima::fastrtps::types::ReturnCode_t;
using rtps::IPLocator;
using rtps::SampleIdentity;
using rtps::SerializedPayload_t;
using rtps::WriteParams;
using Bytes = std::vector<unsigned char>;

static const size_t LONGEST = 9'000'000;

/// Any type: the payload as it is, with its encapsulation header.
class RawType : public TopicDataType {
 public:
  explicit RawType(const std::string& name) {
    setName(name.c_str());
    m_typeSize = LONGEST;
    m_isGetKeyDefined = false;
  }
  bool serialize(void* data, SerializedPayload_t* payload) override {
    auto& bytes = *static_cast<Bytes*>(data);
    payload->length = static_cast<uint32_t>(bytes.size());
    payload->encapsulation = CDR_LE;
    std::memcpy(payload->data, bytes.data(), bytes.size());
    return true;
  }
  bool deserialize(SerializedPayload_t* payload, void* data) override {
    static_cast<Bytes*>(data)->assign(payload->data, payload->data + payload->length);
    return true;
  }
  std::function<uint32_t()> getSerializedSizeProvider(void* data) override {
    return [data] { return static_cast<uint32_t>(static_cast<Bytes*>(data)->size()); };
  }
  void* createData() override { return new Bytes; }
  void deleteData(void* data) override { delete static_cast<Bytes*>(data); }
  bool getKey(void*, rtps::InstanceHandle_t*, bool) override { return false; }
};

static void until(const std::function<bool()>& condition, double seconds = 30) {
  auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error("not in time");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

static void put(Bytes& out, const void* value, size_t size) {
  auto bytes = static_cast<const unsigned char*>(value);
  out.insert(out.end(), bytes, bytes + size);
}

template <typename T>
static T get(const Bytes& from, size_t at) {
  T value{};
  if (at + sizeof(T) <= from.size()) std::memcpy(&value, from.data() + at, sizeof(T));
  return value;
}

/// Sample `mark`: the same rule as in python.rs.
static Bytes blob(uint32_t mark, uint32_t size) {
  Bytes out{0, 1, 0, 0};
  put(out, &size, 4);
  put(out, &mark, 4);
  out.resize(8 + size, static_cast<unsigned char>(mark * 31 % 251));
  return out;
}

class Peer {
 public:
  explicit Peer(int domain) {
    DomainParticipantQos qos;
    auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
    udp->interfaceWhiteList.push_back("127.0.0.1");
    udp->maxInitialPeersRange = 40;
    qos.transport().use_builtin_transports = false;
    qos.transport().user_transports.push_back(udp);
    rtps::Locator_t peer;
    IPLocator::setIPv4(peer, "127.0.0.1");
    peer.port = 0;
    qos.wire_protocol().builtin.initialPeersList.push_back(peer);
    // A peer that dies is noticed soon.
    qos.wire_protocol().builtin.discovery_config.leaseDuration = Duration_t(2, 0);
    qos.wire_protocol().builtin.discovery_config.leaseDuration_announcementperiod = Duration_t(0, 500000000);
    participant_ = DomainParticipantFactory::get_instance()->create_participant(domain, qos);
    if (participant_ == nullptr) throw std::runtime_error("no participant");
    publisher_ = participant_->create_publisher(PUBLISHER_QOS_DEFAULT);
    subscriber_ = participant_->create_subscriber(SUBSCRIBER_QOS_DEFAULT);
  }

  std::string run(std::istringstream& line) {
    std::string command, name;
    line >> command >> name;
    if (command == "writer" || command == "reader") {
      std::string topic, type, reliability;
      int depth = 0;
      line >> topic >> type >> reliability >> depth;
      int heartbeat_seconds = 3;
      if (!(line >> heartbeat_seconds)) heartbeat_seconds = 3;
      bool latched = depth < 0;
      if (command == "writer") {
        writers_[name] = writer(topic, type, reliability == "reliable", latched, std::abs(depth), heartbeat_seconds);
      } else {
        readers_[name] = reader(topic, type, reliability == "reliable", latched, std::abs(depth));
      }
      return "null";
    }
    if (command == "matched") {
      int count = 0;
      line >> count;
      matched(name, count);
      return "null";
    }
    if (command == "write") {
      uint32_t size = 0, first = 0, count = 0;
      line >> size >> first >> count;
      for (uint32_t mark = first; mark < first + count; ++mark) {
        Bytes sample = blob(mark, size);
        if (!writers_.at(name)->write(&sample)) throw std::runtime_error("not written");
      }
      return "null";
    }
    if (command == "take") {
      size_t count = 0;
      double seconds = 30;
      line >> count >> seconds;
      return take(name, count, seconds);
    }
    if (command == "serve") return serve(name, line);
    if (command == "call") return call(name, line);
    throw std::runtime_error("no such command: " + command);
  }

 private:
  Topic* topic(const std::string& name, const std::string& type) {
    if (auto found = participant_->lookup_topicdescription(name)) return dynamic_cast<Topic*>(found);
    TypeSupport support(new RawType(type));
    support.register_type(participant_);
    return participant_->create_topic(name, type, TOPIC_QOS_DEFAULT);
  }

  template <typename Q>
  static void set(Q& qos, bool reliable, bool latched, int depth) {
    qos.reliability().kind = reliable ? RELIABLE_RELIABILITY_QOS : BEST_EFFORT_RELIABILITY_QOS;
    qos.durability().kind = latched ? TRANSIENT_LOCAL_DURABILITY_QOS : VOLATILE_DURABILITY_QOS;
    qos.history().kind = depth == 0 ? KEEP_ALL_HISTORY_QOS : KEEP_LAST_HISTORY_QOS;
    if (depth > 0) qos.history().depth = depth;
    qos.endpoint().history_memory_policy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
    qos.resource_limits().max_samples = 2000;
    qos.resource_limits().max_instances = 1;
    qos.resource_limits().max_samples_per_instance = 2000;
    qos.resource_limits().allocated_samples = 1;
  }

  DataWriter* writer(const std::string& name, const std::string& type, bool reliable, bool latched, int depth,
                     int heartbeat_seconds = 3) {
    DataWriterQos qos;
    set(qos, reliable, latched, depth);
    qos.publish_mode().kind = ASYNCHRONOUS_PUBLISH_MODE;
    qos.reliable_writer_qos().times.heartbeatPeriod = Duration_t(heartbeat_seconds, 0);
    return publisher_->create_datawriter(topic(name, type), qos);
  }

  DataReader* reader(const std::string& name, const std::string& type, bool reliable, bool latched, int depth) {
    DataReaderQos qos;
    set(qos, reliable, latched, depth);
    return subscriber_->create_datareader(topic(name, type), qos);
  }

  void matched(const std::string& name, int count) {
    until([&] {
      PublicationMatchedStatus publication;
      SubscriptionMatchedStatus subscription;
      if (writers_.count(name)) {
        writers_[name]->get_publication_matched_status(publication);
        return publication.current_count == count;
      }
      readers_.at(name)->get_subscription_matched_status(subscription);
      return subscription.current_count == count;
    });
  }

  std::string take(const std::string& name, size_t count, double seconds) {
    std::string marks;
    size_t got = 0;
    auto enough = [&] {
      Bytes sample;
      SampleInfo info;
      while (readers_.at(name)->take_next_sample(&sample, &info) == ReturnCode_t::RETCODE_OK) {
        if (!info.valid_data) continue;
        auto size = get<uint32_t>(sample, 4);
        auto mark = get<uint32_t>(sample, 8);
        auto sent = blob(mark, size);
        bool whole = sample.size() >= sent.size() && std::equal(sent.begin(), sent.end(), sample.begin());
        marks += (got++ ? "," : "") + (whole ? std::to_string(mark) : std::string("null"));
      }
      return got >= count;
    };
    try {
      until(enough, seconds);
    } catch (const std::runtime_error&) {
    }
    return "[" + marks + "]";
  }

  std::string serve(const std::string& service, std::istringstream& line) {
    int count = 0;
    line >> count;
    auto requests = reader("rq" + service + "Request", "timeloom_test::srv::dds_::Add_Request_", true, false, 10);
    auto replies = writer("rr" + service + "Reply", "timeloom_test::srv::dds_::Add_Response_", true, false, 10);
    std::cout << "{\"ok\": \"serving\"}" << std::endl;
    int done = 0;
    until([&] {
      Bytes request;
      SampleInfo info;
      while (requests->take_next_sample(&request, &info) == ReturnCode_t::RETCODE_OK) {
        if (!info.valid_data) continue;
        int64_t sum = get<int64_t>(request, 4) + get<int64_t>(request, 12);
        Bytes reply{0, 1, 0, 0};
        put(reply, &sum, 8);
        SampleIdentity identity = info.sample_identity;
        auto told = info.related_sample_identity.writer_guid();
        if (told != rtps::GUID_t::unknown()) identity.writer_guid(told);
        WriteParams params;
        params.related_sample_identity(identity);
        replies->write(&reply, params);
        ++done;
      }
      return done >= count;
    });
    replies->wait_for_acknowledgments(Duration_t(10, 0));
    return "null";
  }

  std::string call(const std::string& service, std::istringstream& line) {
    auto replies = reader("rr" + service + "Reply", "timeloom_test::srv::dds_::Add_Response_", true, false, 10);
    auto requests = writer("rq" + service + "Request", "timeloom_test::srv::dds_::Add_Request_", true, false, 10);
    until([&] {
      PublicationMatchedStatus publication;
      SubscriptionMatchedStatus subscription;
      requests->get_publication_matched_status(publication);
      replies->get_subscription_matched_status(subscription);
      return publication.current_count == 1 && subscription.current_count == 1;
    });
    std::string sums;
    int64_t a = 0, b = 0;
    while (line >> a >> b) {
      Bytes request{0, 1, 0, 0};
      put(request, &a, 8);
      put(request, &b, 8);
      WriteParams params;
      params.related_sample_identity().writer_guid() = replies->guid();
      requests->write(&request, params);
      auto number = params.sample_identity().sequence_number();
      until([&] {
        Bytes reply;
        SampleInfo info;
        while (replies->take_next_sample(&reply, &info) == ReturnCode_t::RETCODE_OK) {
          auto& related = info.related_sample_identity;
          if (info.valid_data && related.writer_guid() == replies->guid() && related.sequence_number() == number) {
            sums += (sums.empty() ? "" : ",") + std::to_string(get<int64_t>(reply, 4));
            return true;
          }
        }
        return false;
      });
    }
    return "[" + sums + "]";
  }

  DomainParticipant* participant_;
  Publisher* publisher_;
  Subscriber* subscriber_;
  std::map<std::string, DataWriter*> writers_;
  std::map<std::string, DataReader*> readers_;
};

int main(int, char** arguments) {
  // A test that dies leaves no peer behind.
  alarm(120);
  Peer peer(std::stoi(arguments[1]));
  std::string text;
  while (std::getline(std::cin, text)) {
    std::istringstream line(text);
    try {
      auto answer = peer.run(line);
      std::cout << "{\"ok\": " << answer << "}" << std::endl;
    } catch (const std::exception& error) {
      std::cout << "{\"error\": \"" << error.what() << "\"}" << std::endl;
    }
  }
  // Not torn down: the process ends, and peers are told by the participant's destructor only.
  _exit(0);
}
