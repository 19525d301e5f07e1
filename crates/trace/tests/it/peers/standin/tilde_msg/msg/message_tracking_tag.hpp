// The tag as rosidl would generate it: fields and their order.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace builtin_interfaces::msg
{
struct Time
{
  std::int32_t sec = 0;
  std::uint32_t nanosec = 0;
};
}  // namespace builtin_interfaces::msg

namespace std_msgs::msg
{
struct Header
{
  builtin_interfaces::msg::Time stamp;
  std::string frame_id;
};
}  // namespace std_msgs::msg

namespace tilde_msg::msg
{
using builtin_interfaces::msg::Time;

struct PubTopicTimeInfo
{
  std::string topic_name;
  std::string node_fqn;
  std::int64_t seq = 0;
  Time pub_time;
  Time pub_time_steady;
  bool has_header_stamp = false;
  Time header_stamp;
};

struct SubTopicTimeInfo
{
  std::string topic_name;
  Time sub_time;
  Time sub_time_steady;
  bool has_header_stamp = false;
  Time header_stamp;
};

struct MessageTrackingTag
{
  std_msgs::msg::Header header;
  PubTopicTimeInfo output_info;
  std::vector<SubTopicTimeInfo> input_infos;
};
}  // namespace tilde_msg::msg
