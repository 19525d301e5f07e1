// Runs `timeloom_tilde` on a stand-in of rclcpp that lives in memory, and prints what it publishes.
//
// The script comes on the standard input, one step a line; each tag goes out as its CDR in hexadecimal digits.

#include <cstring>
#include <iostream>
#include <sstream>

#include "timeloom_tilde/tilde_node.hpp"

namespace
{
using builtin_interfaces::msg::Time;

struct Stamped
{
  std_msgs::msg::Header header;
};
struct TopLevel
{
  Time stamp;
};
struct Plain
{
  std::string data;
};

/// Little-endian CDR, as the middleware writes it.
class Cdr
{
public:
  template<typename T>
  void put(T value)
  {
    bytes_.resize((bytes_.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
    for (std::size_t at = 0; at < sizeof(T); ++at) {
      bytes_.push_back(static_cast<unsigned char>(static_cast<std::uint64_t>(value) >> (8 * at)));
    }
  }

  void text(const std::string & text)
  {
    put(static_cast<std::uint32_t>(text.size() + 1));
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    bytes_.push_back(0);
  }

  void time(const Time & time)
  {
    put(time.sec);
    put(time.nanosec);
  }

  template<typename InfoT>
  void stamp(const InfoT & info)
  {
    put(static_cast<std::uint8_t>(info.has_header_stamp));
    time(info.header_stamp);
  }

  void tag(const tilde_msg::msg::MessageTrackingTag & tag)
  {
    time(tag.header.stamp);
    text(tag.header.frame_id);
    text(tag.output_info.topic_name);
    text(tag.output_info.node_fqn);
    put(tag.output_info.seq);
    time(tag.output_info.pub_time);
    time(tag.output_info.pub_time_steady);
    stamp(tag.output_info);
    put(static_cast<std::uint32_t>(tag.input_infos.size()));
    for (const auto & input : tag.input_infos) {
      text(input.topic_name);
      time(input.sub_time);
      time(input.sub_time_steady);
      stamp(input);
    }
    std::printf("tag 00010000");
    for (const unsigned char byte : bytes_) {
      std::printf("%02x", byte);
    }
    std::printf("\n");
  }

private:
  std::vector<unsigned char> bytes_;
};

Time time_of(std::int64_t nanos)
{
  Time time;
  time.sec = static_cast<std::int32_t>(nanos / 1'000'000'000);
  time.nanosec = static_cast<std::uint32_t>(nanos % 1'000'000'000);
  return time;
}

/// Subscriptions with every kind of callback, one message type each.
template<typename M>
class Inputs
{
public:
  void add(timeloom_tilde::TildeNode & node, const std::string & topic)
  {
    const auto one = [&](auto callback) {
        return node.create_tilde_subscription<M>(topic, 10, callback);
      };
    // Each message goes to the next kind; all of them note it alike.
    auto & subscriptions = subscriptions_[topic];
    subscriptions.push_back(one([](const M &) {}));
    subscriptions.push_back(one([](std::shared_ptr<const M>) {}));
    subscriptions.push_back(one([](std::shared_ptr<M>) {}));
    subscriptions.push_back(one([](std::unique_ptr<M>) {}));
    subscriptions.push_back(one([](const M &, const rclcpp::MessageInfo &) {}));
  }

  void deliver(const std::string & topic, const M & message)
  {
    auto & subscriptions = subscriptions_.at(topic);
    subscriptions.at(next_++ % subscriptions.size())->deliver(message);
  }

private:
  std::map<std::string, std::vector<typename rclcpp::Subscription<M>::SharedPtr>> subscriptions_;
  std::size_t next_ = 0;
};

struct Message
{
  std::string kind;
  std::int64_t stamp = 0;

  explicit Message(const std::string & word) : kind(word.substr(0, word.find(':')))
  {
    if (kind != word) {
      stamp = std::stoll(word.substr(kind.size() + 1));
    }
  }

  /// Calls with the message as the type that it is of.
  template<typename F>
  void as(F call) const
  {
    if (kind == "stamped") {
      Stamped message;
      message.header.stamp = time_of(stamp);
      call(message);
    } else if (kind == "top") {
      TopLevel message;
      message.stamp = time_of(stamp);
      call(message);
    } else {
      call(Plain());
    }
  }
};

/// A topic with publishers of each type that share one count would not be one publisher: each type has its own topic.
struct Peer
{
  timeloom_tilde::TildeNode node{"fusion", "/robot"};
  timeloom_tilde::TildePublisher<Stamped>::SharedPtr out =
    node.create_tilde_publisher<Stamped>("out", 10);
  timeloom_tilde::TildePublisher<Plain>::SharedPtr plain =
    node.create_tilde_publisher<Plain>("/plain", 10);
  Inputs<Stamped> stamped;
  Inputs<TopLevel> top;
  Inputs<Plain> bare;

  void step(const std::string & step, const std::string & first, const std::string & second)
  {
    if (step == "clock") {
      rclcpp::ros_now = std::stoll(first);
      rclcpp::steady_now = std::stoll(second);
    } else if (step == "input") {
      stamped.add(node, first);
      top.add(node, first);
      bare.add(node, first);
    } else if (step == "receive") {
      Message(second).as([&](const auto & message) {receive(first, message);});
    } else if (step == "publish") {
      publish(Message(first));
    } else if (step == "publish_plain") {
      plain->publish(Plain());
    } else if (step == "explicit") {
      const bool named = out->add_explicit_input_info(first, time_of(std::stoll(second)));
      std::printf("explicit %s\n", named ? "true" : "false");
    } else if (step == "enable") {
      node.set_parameter({"enable_tilde", first == "true"});
    } else if (step == "break") {
      rclcpp::tags_are_broken = first == "true";
    } else {
      throw std::runtime_error("what is " + step + "?");
    }
  }

  void receive(const std::string & topic, const Stamped & message) {stamped.deliver(topic, message);}
  void receive(const std::string & topic, const TopLevel & message) {top.deliver(topic, message);}
  void receive(const std::string & topic, const Plain & message) {bare.deliver(topic, message);}

  void publish(const Message & message)
  {
    Stamped made;
    made.header.stamp = time_of(message.stamp);
    // Both ways to publish.
    if (message.stamp % 2 == 0) {
      out->publish(made);
    } else {
      out->publish(std::make_unique<Stamped>(made));
    }
  }
};
}  // namespace

int main()
{
  rclcpp::take_tag = [](const auto & tag) {Cdr().tag(tag);};
  Peer peer;
  for (std::string line; std::getline(std::cin, line); ) {
    std::istringstream words(line);
    std::string step, first, second;
    words >> step >> first >> second;
    peer.step(step, first, second);
  }
  std::printf("refused %llu\n", static_cast<unsigned long long>(peer.out->refused_tags()));
  return 0;
}
