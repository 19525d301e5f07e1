// What `timeloom_tilde` uses of rclcpp, in memory and with its signatures; what is published goes to `rclcpp::out`.

#pragma once

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tilde_msg/msg/message_tracking_tag.hpp"

enum rcl_clock_type_t { RCL_ROS_TIME, RCL_STEADY_TIME };

namespace rcl_interfaces::msg
{
struct SetParametersResult
{
  bool successful = false;
};
}  // namespace rcl_interfaces::msg

namespace rclcpp
{
inline std::int64_t ros_now = 0;
inline std::int64_t steady_now = 0;
inline std::function<void(const tilde_msg::msg::MessageTrackingTag &)> take_tag;
inline bool tags_are_broken = false;

class Time
{
public:
  Time(std::int64_t nanos) : nanos_(nanos) {}
  Time(const builtin_interfaces::msg::Time & time)
  : nanos_(time.sec * std::int64_t{1'000'000'000} + time.nanosec) {}
  std::int64_t nanoseconds() const {return nanos_;}

private:
  std::int64_t nanos_;
};

class Clock
{
public:
  using SharedPtr = std::shared_ptr<Clock>;
  explicit Clock(rcl_clock_type_t type = RCL_ROS_TIME) : type_(type) {}
  Time now() const {return type_ == RCL_STEADY_TIME ? steady_now : ros_now;}

private:
  rcl_clock_type_t type_;
};

struct Logger {};

inline void warn(const char * format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  std::printf("warning ");
  std::vprintf(format, arguments);
  std::printf("\n");
  va_end(arguments);
}
#define RCLCPP_WARN(logger, ...) ((void)(logger), rclcpp::warn(__VA_ARGS__))

struct NodeOptions {};
struct PublisherOptions {};
struct SubscriptionOptions {};
struct MessageInfo {};
struct QoS
{
  QoS(int depth) : depth(depth) {}
  int depth;
};

class Parameter
{
public:
  Parameter(std::string name, bool value) : name_(std::move(name)), value_(value) {}
  const std::string & get_name() const {return name_;}
  bool as_bool() const {return value_;}

private:
  std::string name_;
  bool value_;
};

namespace node_interfaces
{
class NodeTopicsInterface
{
public:
  using SharedPtr = std::shared_ptr<NodeTopicsInterface>;
  std::string resolve_topic_name(const std::string & name, bool = false) const
  {
    return name.front() == '/' ? name : "/robot/" + name;
  }
};

struct OnSetParametersCallbackHandle
{
  using SharedPtr = std::shared_ptr<OnSetParametersCallbackHandle>;
  std::function<rcl_interfaces::msg::SetParametersResult(const std::vector<Parameter> &)> call;
};
}  // namespace node_interfaces

template<typename M>
class Publisher
{
public:
  using SharedPtr = std::shared_ptr<Publisher>;
  explicit Publisher(std::string topic) : topic_(std::move(topic)) {}
  const char * get_topic_name() const {return topic_.c_str();}
  std::size_t get_subscription_count() const {return 0;}
  std::size_t get_intra_process_subscription_count() const {return 0;}
  void publish(const M & message)
  {
    if constexpr (std::is_same_v<M, tilde_msg::msg::MessageTrackingTag>) {
      if (tags_are_broken) {
        throw std::runtime_error("the middleware is full");
      }
      take_tag(message);
    } else {
      (void)message;
      std::printf("message %s\n", topic_.c_str());
    }
  }
  void publish(std::unique_ptr<M> message) {publish(*message);}

private:
  std::string topic_;
};

/// A callback of any of the kinds that rclcpp takes.
template<typename M>
using AnyCallback = std::variant<
  std::function<void(const M &)>, std::function<void(std::shared_ptr<const M>)>,
  std::function<void(std::shared_ptr<M>)>, std::function<void(std::unique_ptr<M>)>,
  std::function<void(const M &, const MessageInfo &)>>;

template<typename F>
struct Argument : Argument<decltype(&F::operator())> {};
template<typename C, typename ... Args>
struct Argument<void (C::*)(Args...) const>
{
  using Function = std::function<void(Args...)>;
};

template<typename M>
class Subscription
{
public:
  using SharedPtr = std::shared_ptr<Subscription>;
  explicit Subscription(AnyCallback<M> callback) : callback_(std::move(callback)) {}
  void deliver(const M & message)
  {
    std::visit(
      [&](auto & call) {
        using Call = std::decay_t<decltype(call)>;
        if constexpr (std::is_invocable_v<Call, const M &>) {
          call(message);
        } else if constexpr (std::is_invocable_v<Call, std::shared_ptr<M>>) {
          call(std::make_shared<M>(message));
        } else if constexpr (std::is_invocable_v<Call, std::unique_ptr<M>>) {
          call(std::make_unique<M>(message));
        } else {
          call(message, MessageInfo());
        }
      },
      callback_);
  }

private:
  AnyCallback<M> callback_;
};

class Node
{
public:
  explicit Node(const std::string & name, const NodeOptions & = NodeOptions()) : name_("/" + name) {}
  Node(const std::string & name, const std::string & name_space, const NodeOptions & = NodeOptions())
  : name_(name_space + "/" + name) {}

  const char * get_fully_qualified_name() const {return name_.c_str();}
  Logger get_logger() const {return {};}
  Clock::SharedPtr get_clock() {return std::make_shared<Clock>();}
  node_interfaces::NodeTopicsInterface::SharedPtr get_node_topics_interface()
  {
    return std::make_shared<node_interfaces::NodeTopicsInterface>();
  }

  template<typename M>
  std::shared_ptr<Publisher<M>> create_publisher(
    const std::string & topic, const QoS &, const PublisherOptions & = PublisherOptions())
  {
    return std::make_shared<Publisher<M>>(get_node_topics_interface()->resolve_topic_name(topic));
  }

  template<typename M, typename F>
  std::shared_ptr<Subscription<M>> create_subscription(
    const std::string &, const QoS &, F && callback, const SubscriptionOptions & = {})
  {
    typename Argument<std::decay_t<F>>::Function function(std::forward<F>(callback));
    return std::make_shared<Subscription<M>>(AnyCallback<M>(std::move(function)));
  }

  bool has_parameter(const std::string & name) const {return parameters_.count(name) > 0;}
  void declare_parameter(const std::string & name, bool value) {parameters_[name] = value;}
  Parameter get_parameter(const std::string & name) const {return {name, parameters_.at(name)};}
  node_interfaces::OnSetParametersCallbackHandle::SharedPtr add_on_set_parameters_callback(
    std::function<rcl_interfaces::msg::SetParametersResult(const std::vector<Parameter> &)> call)
  {
    on_set_ = std::make_shared<node_interfaces::OnSetParametersCallbackHandle>();
    on_set_->call = std::move(call);
    return on_set_;
  }
  void set_parameter(const Parameter & parameter) {on_set_->call({parameter});}

private:
  std::string name_;
  std::map<std::string, bool> parameters_;
  node_interfaces::OnSetParametersCallbackHandle::SharedPtr on_set_;
};
}  // namespace rclcpp
