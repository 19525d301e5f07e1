// Tags of TILDE from nodes of rclcpp: which messages an output was made of, for `timeloom trace`.
//
// A node derives from `timeloom_tilde::TildeNode` in place of `rclcpp::Node` and creates what is to be tracked by
// `create_tilde_publisher` and `create_tilde_subscription`; nothing else of it changes. Header only, C++17.
// How it is used: docs/tracking.md of Timeloom.

#ifndef TIMELOOM_TILDE__TILDE_NODE_HPP_
#define TIMELOOM_TILDE__TILDE_NODE_HPP_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rclcpp/rclcpp.hpp"
#include "tilde_msg/msg/message_tracking_tag.hpp"

namespace timeloom_tilde
{

namespace detail
{

/// So many messages of each input can be named by their stamp.
constexpr std::size_t kRemembered = 256;
constexpr std::int64_t kNanos = 1'000'000'000;

/// One moment on the clock of the node and on that of the machine, in nanoseconds.
struct Moment
{
  std::int64_t ros = 0;
  std::int64_t steady = 0;
};

/// A message that came; the moment is zero when only its stamp is known.
struct Received
{
  Moment at;
  std::optional<std::int64_t> stamp;
};

template<typename TimeT>
void put_time(TimeT & time, std::int64_t nanos)
{
  time.sec = static_cast<std::int32_t>(nanos / kNanos);
  time.nanosec = static_cast<std::uint32_t>(nanos % kNanos);
}

template<typename InfoT>
void put_stamp(InfoT & info, const std::optional<std::int64_t> & stamp)
{
  info.has_header_stamp = stamp.has_value();
  put_time(info.header_stamp, stamp.value_or(0));
}

template<typename TimeT>
std::int64_t nanos_of(const TimeT & time)
{
  return static_cast<std::int64_t>(time.sec) * kNanos + time.nanosec;
}

template<typename M, typename = void>
struct HasHeaderStamp : std::false_type {};
template<typename M>
struct HasHeaderStamp<M, std::void_t<decltype(std::declval<const M &>().header.stamp.nanosec)>>
  : std::true_type {};

template<typename M, typename = void>
struct HasStamp : std::false_type {};
template<typename M>
struct HasStamp<M, std::void_t<decltype(std::declval<const M &>().stamp.nanosec)>>
  : std::true_type {};

/// The stamp of a message, as TILDE finds it: `header.stamp`, else `stamp`, else none.
template<typename M>
std::optional<std::int64_t> stamp_of(const M & message)
{
  if constexpr (HasHeaderStamp<M>::value) {
    return nanos_of(message.header.stamp);
  } else if constexpr (HasStamp<M>::value) {
    return nanos_of(message.stamp);
  } else {
    (void)message;
    return std::nullopt;
  }
}

/// What the publishers and subscriptions of one node share. Any thread may use it.
class State
{
public:
  explicit State(rclcpp::Node & node)
  : node_fqn(node.get_fully_qualified_name()),
    logger(node.get_logger()),
    topics(node.get_node_topics_interface()),
    clock_(node.get_clock()),
    steady_(std::make_shared<rclcpp::Clock>(RCL_STEADY_TIME))
  {
  }

  Moment now() const
  {
    return {clock_->now().nanoseconds(), steady_->now().nanoseconds()};
  }

  void add_input(const std::string & topic)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    inputs_[topic];
  }

  void receive(const std::string & topic, std::optional<std::int64_t> stamp)
  {
    if (!enabled) {
      return;
    }
    const Received received{now(), stamp};
    const std::lock_guard<std::mutex> lock(mutex_);
    auto & recent = inputs_[topic];
    recent.push_back(received);
    if (recent.size() > kRemembered) {
      recent.pop_front();
    }
  }

  /// The newest message of each input, by name.
  std::vector<std::pair<std::string, Received>> latest() const
  {
    std::vector<std::pair<std::string, Received>> found;
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto & [topic, recent] : inputs_) {
      if (!recent.empty()) {
        found.emplace_back(topic, recent.back());
      }
    }
    return found;
  }

  /// The newest message with a stamp; nothing when the node takes no such topic.
  std::optional<Received> find(const std::string & topic, std::int64_t stamp) const
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto input = inputs_.find(topic);
    if (input == inputs_.end()) {
      return std::nullopt;
    }
    const auto & recent = input->second;
    for (auto one = recent.rbegin(); one != recent.rend(); ++one) {
      if (one->stamp == stamp) {
        return *one;
      }
    }
    return Received{Moment{}, stamp};
  }

  const std::string node_fqn;
  const rclcpp::Logger logger;
  const rclcpp::node_interfaces::NodeTopicsInterface::SharedPtr topics;
  std::atomic<bool> enabled{true};

private:
  const rclcpp::Clock::SharedPtr clock_;
  const rclcpp::Clock::SharedPtr steady_;
  mutable std::mutex mutex_;
  std::map<std::string, std::deque<Received>> inputs_;
};

}  // namespace detail

/// A publisher that sends a tag before each message.
///
/// A tag that cannot be sent does not keep its message back: it is counted by `refused_tags` and warned of.
template<typename M>
class TildePublisher
{
public:
  using SharedPtr = std::shared_ptr<TildePublisher>;
  using Main = rclcpp::Publisher<M>;
  using Tag = tilde_msg::msg::MessageTrackingTag;

  TildePublisher(
    std::shared_ptr<detail::State> state, typename Main::SharedPtr main,
    rclcpp::Publisher<Tag>::SharedPtr tags)
  : state_(std::move(state)), main_(std::move(main)), tags_(std::move(tags))
  {
  }

  void publish(const M & message)
  {
    publish_tag(detail::stamp_of(message));
    main_->publish(message);
  }

  void publish(std::unique_ptr<M> message)
  {
    publish_tag(detail::stamp_of(*message));
    main_->publish(std::move(message));
  }

  /// Serialised and loaned messages go out without a tag, as those of TILDE do.
  template<
    typename T,
    typename = std::enable_if_t<!std::is_convertible_v<T, const M &> &&
    !std::is_convertible_v<T, std::unique_ptr<M>>>>
  void publish(T && message)
  {
    main_->publish(std::forward<T>(message));
  }

  /// Names an input of the next message by its topic and its stamp, for nodes that buffer.
  ///
  /// As in TILDE it is a state of the publisher: from the first call on, tags list what was named since the last
  /// message and nothing else. False, and nothing changes, when the node takes no such topic.
  bool add_explicit_input_info(const std::string & topic, const rclcpp::Time & stamp)
  {
    const std::string name = state_->topics->resolve_topic_name(topic);
    const auto found = state_->find(name, stamp.nanoseconds());
    if (!found) {
      return false;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!explicit_) {
      explicit_.emplace();
    }
    explicit_->emplace_back(name, *found);
    return true;
  }

  /// How many tags the middleware did not take.
  std::uint64_t refused_tags() const {return refused_;}

  /// The publisher of the messages underneath.
  typename Main::SharedPtr main() const {return main_;}

  const char * get_topic_name() const {return main_->get_topic_name();}
  std::size_t get_subscription_count() const {return main_->get_subscription_count();}
  std::size_t get_intra_process_subscription_count() const
  {
    return main_->get_intra_process_subscription_count();
  }

private:
  void publish_tag(std::optional<std::int64_t> stamp)
  {
    if (!state_->enabled) {
      return;
    }
    try {
      tags_->publish(tag(stamp));
    } catch (const std::exception & error) {
      refuse(error.what());
    }
  }

  Tag tag(std::optional<std::int64_t> stamp)
  {
    const detail::Moment now = state_->now();
    Tag tag;
    detail::put_time(tag.header.stamp, now.ros);
    auto & output = tag.output_info;
    output.topic_name = main_->get_topic_name();
    output.node_fqn = state_->node_fqn;
    detail::put_time(output.pub_time, now.ros);
    detail::put_time(output.pub_time_steady, now.steady);
    detail::put_stamp(output, stamp);
    std::vector<std::pair<std::string, detail::Received>> used;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      output.seq = sequence_++;
      if (explicit_) {
        used.swap(*explicit_);
      } else {
        used = state_->latest();
      }
    }
    tag.input_infos.resize(used.size());
    for (std::size_t at = 0; at < used.size(); ++at) {
      auto & info = tag.input_infos[at];
      info.topic_name = std::move(used[at].first);
      detail::put_time(info.sub_time, used[at].second.at.ros);
      detail::put_time(info.sub_time_steady, used[at].second.at.steady);
      detail::put_stamp(info, used[at].second.stamp);
    }
    return tag;
  }

  void refuse(const char * reason)
  {
    const std::uint64_t refused = ++refused_;
    // The first time and at each doubling: a log full of it would be worse than the loss.
    if ((refused & (refused - 1)) == 0) {
      const std::string count = std::to_string(refused);
      RCLCPP_WARN(
        state_->logger, "%s tags of %s were not sent, its messages were: %s", count.c_str(),
        main_->get_topic_name(), reason);
    }
  }

  const std::shared_ptr<detail::State> state_;
  const typename Main::SharedPtr main_;
  const rclcpp::Publisher<Tag>::SharedPtr tags_;
  std::mutex mutex_;
  std::int64_t sequence_ = 0;
  std::optional<std::vector<std::pair<std::string, detail::Received>>> explicit_;
  std::atomic<std::uint64_t> refused_{0};
};

/// A node that records, for each message it publishes, the messages it was made from.
///
/// The parameter `enable_tilde` switches that on and off while it runs. Any executor may run its callbacks.
class TildeNode : public rclcpp::Node
{
public:
  explicit TildeNode(
    const std::string & name, const rclcpp::NodeOptions & options = rclcpp::NodeOptions())
  : rclcpp::Node(name, options)
  {
    begin();
  }

  TildeNode(
    const std::string & name, const std::string & name_space,
    const rclcpp::NodeOptions & options = rclcpp::NodeOptions())
  : rclcpp::Node(name, name_space, options)
  {
    begin();
  }

  /// Like `create_publisher`, with a tag for each message on `<topic>/message_tracking_tag`.
  template<typename M>
  typename TildePublisher<M>::SharedPtr create_tilde_publisher(
    const std::string & topic, const rclcpp::QoS & qos,
    const rclcpp::PublisherOptions & options = rclcpp::PublisherOptions())
  {
    auto main = this->create_publisher<M>(topic, qos, options);
    auto tags = this->create_publisher<tilde_msg::msg::MessageTrackingTag>(
      std::string(main->get_topic_name()) + "/message_tracking_tag", rclcpp::QoS(1));
    return std::make_shared<TildePublisher<M>>(state_, std::move(main), std::move(tags));
  }

  /// Like `create_subscription`; each message is noted before the callback runs.
  ///
  /// The callback takes `const M &`, `std::shared_ptr<const M>`, `std::shared_ptr<M>` or `std::unique_ptr<M>`, alone or
  /// with `const rclcpp::MessageInfo &`.
  template<typename M, typename CallbackT>
  typename rclcpp::Subscription<M>::SharedPtr create_tilde_subscription(
    const std::string & topic, const rclcpp::QoS & qos, CallbackT && callback,
    const rclcpp::SubscriptionOptions & options = rclcpp::SubscriptionOptions())
  {
    using Callback = std::decay_t<CallbackT>;
    using Const = std::shared_ptr<const M>;
    using Shared = std::shared_ptr<M>;
    using Unique = std::unique_ptr<M>;
    using Info = const rclcpp::MessageInfo &;
    const auto create = [&](auto taken) {
        return this->create_subscription<M>(topic, qos, std::move(taken), options);
      };
    const std::string name = state_->topics->resolve_topic_name(topic);
    state_->add_input(name);
    auto note = [state = state_, name](const M & message) {
        state->receive(name, detail::stamp_of(message));
      };
    // rclcpp takes callbacks whose call is const; that of the user's own need not be.
    auto call = std::make_shared<Callback>(std::forward<CallbackT>(callback));
    // From what asks for the least to what asks for the most: a shared pointer also takes a unique one.
    if constexpr (std::is_invocable_v<Callback &, const M &>) {
      return create([note, call](const M & m) {note(m); (*call)(m);});
    } else if constexpr (std::is_invocable_v<Callback &, Const>) {
      return create([note, call](Const m) {note(*m); (*call)(std::move(m));});
    } else if constexpr (std::is_invocable_v<Callback &, Shared>) {
      return create([note, call](Shared m) {note(*m); (*call)(std::move(m));});
    } else if constexpr (std::is_invocable_v<Callback &, Unique>) {
      return create([note, call](Unique m) {note(*m); (*call)(std::move(m));});
    } else if constexpr (std::is_invocable_v<Callback &, const M &, Info>) {
      return create([note, call](const M & m, Info i) {note(m); (*call)(m, i);});
    } else if constexpr (std::is_invocable_v<Callback &, Const, Info>) {
      return create([note, call](Const m, Info i) {note(*m); (*call)(std::move(m), i);});
    } else if constexpr (std::is_invocable_v<Callback &, Shared, Info>) {
      return create([note, call](Shared m, Info i) {note(*m); (*call)(std::move(m), i);});
    } else {
      static_assert(
        std::is_invocable_v<Callback &, Unique, Info>,
        "the callback takes const M &, a shared or a unique pointer to M, alone or with MessageInfo");
      return create([note, call](Unique m, Info i) {note(*m); (*call)(std::move(m), i);});
    }
  }

private:
  void begin()
  {
    state_ = std::make_shared<detail::State>(*this);
    if (!this->has_parameter("enable_tilde")) {
      this->declare_parameter("enable_tilde", true);
    }
    state_->enabled = this->get_parameter("enable_tilde").as_bool();
    switch_ = this->add_on_set_parameters_callback(
      [state = state_](const std::vector<rclcpp::Parameter> & parameters) {
        rcl_interfaces::msg::SetParametersResult result;
        result.successful = true;
        for (const auto & parameter : parameters) {
          if (parameter.get_name() == "enable_tilde") {
            state->enabled = parameter.as_bool();
          }
        }
        return result;
      });
  }

  std::shared_ptr<detail::State> state_;
  rclcpp::node_interfaces::OnSetParametersCallbackHandle::SharedPtr switch_;
};

}  // namespace timeloom_tilde

#endif  // TIMELOOM_TILDE__TILDE_NODE_HPP_
