#include <halfgrad/io/npy.h>

#include <algorithm>
#include <vector>

#include <halfgrad/core/fail.h>
#include <halfgrad/files/byte_source.h>
#include <halfgrad/files/file_kind.h>
#include <halfgrad/files/replace_file.h>
#include <halfgrad/io/npy_header.h>
#include <halfgrad/io/tensor_bytes.h>
#include <halfgrad/io/utf8.h>
#include <halfgrad/io/zip_archive.h>
#include <halfgrad/io/zip_records.h>

namespace halfgrad::io {
namespace {

using files::ByteReader;
using files::ByteSource;

const std::string kSuffix = ".npy";

Tensor read_array(ByteReader input) {
  detail::NpyHeader header = detail::parse_npy_header(input);
  // Row-major order of the transpose is column-major order.
  if (header.fortran_order) std::ranges::reverse(header.shape);
  const Tensor tensor = detail::tensor_of({.dtype = header.dtype,
                                           .stored = header.stored,
                                           .sizes = header.shape,
                                           .offset = header.data_start,
                                           .order = header.order},
                                          input);
  if (!header.fortran_order) return tensor;
  Shape reversed;
  for (int i = static_cast<int>(tensor.dim()); i-- > 0;) reversed.push_back(i);
  return Tensor(tensor.array().permute(reversed).contiguous());
}

Array checked_array(const Tensor& tensor, const char* writer) {
  if (tensor.defined()) return detail::stored_array(tensor);
  halfgrad::detail::fail(writer, "expected a tensor, got an undefined one");
}

std::string header_of(const Array& array) {
  return detail::format_npy_header(array.dtype(),
                                   std::span(array.sizes().begin(), array.sizes().end()));
}

Tensor read_npy(const ByteSource& bytes, const std::string& name) {
  files::expect_kind(files::FileKind::npy, bytes, "load_npy", name);
  return read_array(ByteReader(bytes, "load_npy", name));
}

void check_unpacked_size(const std::vector<detail::ZipMember>& members, const ByteReader& input,
                         const files::ReadOptions& options) {
  std::uint64_t unpacked = 0;  // bytes; each size is at most 1032 times that of a part of the file
  for (const detail::ZipMember& member : members) {
    if (member.method != detail::kStored) unpacked += member.size;
  }
  files::check_unpacked(unpacked, options, input);
}

TensorMap read_npz(const ByteSource& bytes, const std::string& name,
                   const files::ReadOptions& options) {
  files::expect_kind(files::FileKind::npz, bytes, "load_npz", name);
  const ByteReader input(bytes, "load_npz", name);
  const std::vector<detail::ZipMember> members = detail::read_zip_directory(input);
  check_unpacked_size(members, input, options);
  TensorMap tensors;
  for (const detail::ZipMember& member : members) {
    if (!member.name.ends_with(kSuffix) || member.name == kSuffix) {
      input.fail_at(member.header_start, FormatCode::bad_name, "members called NAME.npy",
                    '"' + member.name + '"');
    }
    const ByteSource contents = detail::unpack(member, input);
    tensors[member.name.substr(0, member.name.size() - kSuffix.size())] =
        read_array(ByteReader(contents, "load_npz", name + ":" + files::cut(member.name)));
  }
  return tensors;
}

}  // namespace

Tensor parse_npy(std::span<const std::byte> bytes, const std::string& name) {
  return read_npy(bytes, name);
}

Tensor load_npy(const std::filesystem::path& path) {
  return read_npy(ByteSource::open(path, "load_npy"), path.string());
}

void save_npy(const std::filesystem::path& path, const Tensor& tensor) {
  const Array array = checked_array(tensor, "save_npy");
  const std::string header = header_of(array);
  const files::Bytes pieces[] = {std::as_bytes(std::span(header)), detail::bytes_of(array)};
  files::replace_file(path, pieces);
}

TensorMap parse_npz(std::span<const std::byte> bytes, const std::string& name,
                    const files::ReadOptions& options) {
  return read_npz(bytes, name, options);
}

TensorMap load_npz(const std::filesystem::path& path, const files::ReadOptions& options) {
  return read_npz(ByteSource::open(path, "load_npz"), path.string(), options);
}

void save_npz(const std::filesystem::path& path, const TensorMap& tensors) {
  std::vector<std::string> headers;
  std::vector<Array> arrays;
  for (const auto& [name, tensor] : tensors) {
    if (!detail::is_member_name(name + kSuffix) || detail::valid_utf8_prefix(name) < name.size() ||
        name.empty()) {
      halfgrad::detail::fail("save_npz",
                             "expected a relative path without \"..\" as name, got \"{}\"",
                             files::cut(name));
    }
    arrays.push_back(checked_array(tensor, "save_npz"));
    headers.push_back(header_of(arrays.back()));
  }
  std::vector<detail::ZipContents> members;
  for (const auto& [name, tensor] : tensors) {
    const std::size_t i = members.size();
    members.push_back(
        {.name = name + kSuffix,
         .pieces = {std::as_bytes(std::span(headers[i])), detail::bytes_of(arrays[i])}});
  }
  const std::vector<std::string> parts = detail::format_zip(members);
  std::vector<files::Bytes> pieces;
  for (std::size_t i = 0; i < members.size(); ++i) {
    pieces.push_back(std::as_bytes(std::span(parts[i])));
    pieces.insert(pieces.end(), members[i].pieces.begin(), members[i].pieces.end());
  }
  pieces.push_back(std::as_bytes(std::span(parts.back())));
  files::replace_file(path, pieces);
}

}  // namespace halfgrad::io
