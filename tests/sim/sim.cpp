// "sim": a simulated accelerator, for tests on machines without one.
//
// Device memory is host memory, and the kernels are the CPU's. Everything that a program can get wrong is real: placing
// and mixing tensors, making the host wait, drawing from the device's random stream, forking, using a type that the
// device lacks, running out of memory, losing the device.
//
//   sim tensors -> CPU tensors over the same memory -> the CPU's kernel -> results become sim tensors
//
// This copies no data. PyTorch's cpu_fallback does: it accepts mixed devices, breaks views, and loses what a kernel
// writes without declaring it in its schema, such as the running statistics of BatchNorm.

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/autocast_mode.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/Resize.h>
#include <ATen/native/TensorFactories.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <pthread.h>
#include <torch/library.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>

namespace {

using at::Tensor;
using c10::Device;
using c10::DeviceIndex;
using c10::IValue;
using c10::Storage;
using Type = std::optional<at::ScalarType>;
using Layout = std::optional<at::Layout>;
using Place = std::optional<Device>;
using Flag = std::optional<bool>;

constexpr auto kSim = c10::DeviceType::PrivateUse1;
constexpr auto kSimKey = c10::DispatchKey::PrivateUse1;
constexpr int kMaxDevices = 8;
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
constexpr int64_t kDefaultMemory = int64_t{1} << 34;  // reported as the total where no limit is set

// ---------------------------------------------------------------------------------------------- state of the devices

enum Counter { kOps, kWaits, kDraws, kToHost, kToDevice, kBytesToHost, kBytesToDevice, kCounters };

struct DeviceState {
  std::atomic<int64_t> counters[kCounters]{};
  std::atomic<int64_t> used{0}, peak{0}, limit{0};
  std::atomic<int64_t> ops_left{kNever};  // the device is lost when none is left
};

DeviceState devices[kMaxDevices];
int n_devices = 0;
std::atomic<uint64_t> missing_types{0};  // one bit per at::ScalarType
std::atomic<bool> is_started{false}, is_forked{false};
thread_local DeviceIndex current = 0;

std::atomic<bool> is_recording{false};
std::mutex recording;
std::map<std::string, int64_t> kernels;  // how often each was started while recording

DeviceIndex index_of(Device device) { return device.has_index() ? device.index() : current; }

DeviceState& state_of(int64_t index) {
  TORCH_CHECK(index >= 0 && index < n_devices, "sim error: no device ", index, ", there are ", n_devices);
  return devices[index];
}

DeviceState& usable(DeviceIndex index) {
  TORCH_CHECK(
      !is_forked, "Cannot re-initialize sim in forked subprocess. To use sim with multiprocessing, you must use the "
      "'spawn' start method");
  TORCH_CHECK(state_of(index).ops_left > 0, "sim error: device lost (sim:", int(index), ")");
  if (!is_started.exchange(true)) pthread_atfork(nullptr, nullptr, [] { is_forked = true; });
  return devices[index];
}

void count_op(DeviceIndex index, const c10::OperatorName& name) {
  --devices[index].ops_left;
  ++devices[index].counters[kOps];
  if (!is_recording) return;
  std::lock_guard<std::mutex> lock(recording);
  ++kernels[c10::toString(name)];
}

void count_copy(DeviceIndex index, Counter direction, int64_t bytes) {
  ++devices[index].counters[direction];
  devices[index].counters[direction == kToHost ? kBytesToHost : kBytesToDevice] += bytes;
}

void require_type(at::ScalarType type) {
  const bool is_missing = missing_types >> int(type) & 1;
  TORCH_CHECK_TYPE(!is_missing, "sim does not support ", type, ": use another dtype on this device");
}

// ------------------------------------------------------------------------------------------------------------ memory

struct Block {
  Storage owner;  // host memory that now belongs to the device
  int64_t bytes;
  DeviceIndex device;
};

void release(void* context) {
  auto* block = static_cast<Block*>(context);
  devices[block->device].used -= block->bytes;
  delete block;
}

at::DataPtr adopt(const Storage& host, DeviceIndex index) {
  auto& device = devices[index];
  const auto bytes = static_cast<int64_t>(host.nbytes());
  const int64_t after = device.used += bytes;
  if (device.limit && after > device.limit) {
    device.used -= bytes;
    TORCH_CHECK_WITH(
        OutOfMemoryError, false, "sim out of memory. Tried to allocate ", bytes, " bytes; sim:", int(index), " has ",
        device.limit.load(), ", of which ", device.used.load(), " are in use");
  }
  for (int64_t peak = device.peak; peak < after && !device.peak.compare_exchange_weak(peak, after);) {
  }
  return {const_cast<void*>(host.data()), new Block{host, bytes, index}, &release, Device(kSim, index)};
}

struct SimAllocator final : c10::DeviceAllocator {
  at::DataPtr allocate(size_t n) override {
    usable(current);
    Storage host(Storage::use_byte_size_t{}, n, c10::GetCPUAllocator(), false);
    if (n) std::memset(host.mutable_data(), 0xFF, n);  // NaN, -1 or true: reading what was never written shows
    return adopt(host, current);
  }
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* to, const void* from, size_t n) const override { default_copy_data(to, from, n); }
  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t = {0, 0}) override {}
  void recordStream(const at::DataPtr&, c10::Stream) override {}
  void resetAccumulatedStats(DeviceIndex) override {}
  void resetPeakStats(DeviceIndex index) override { state_of(index).peak = devices[index].used.load(); }
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(DeviceIndex index) override {
    c10::CachingDeviceAllocator::DeviceStats stats;
    for (auto* bytes : {&stats.allocated_bytes[0], &stats.reserved_bytes[0], &stats.active_bytes[0]}) {
      bytes->current = state_of(index).used;
      bytes->peak = state_of(index).peak;
    }
    return stats;
  }
  std::pair<size_t, size_t> getMemoryInfo(DeviceIndex index) override {
    const auto& device = usable(index);
    const int64_t total = device.limit ? device.limit.load() : kDefaultMemory;
    return {std::max<int64_t>(0, total - device.used), total};
  }
} allocator;

// Never destroyed, because pinned tensors may be freed after the static objects at exit.
auto& pinning = *new std::mutex;
auto& pinned = *new std::map<const char*, size_t>;  // start and size of each block of pinned host memory

struct PinnedAllocator final : c10::Allocator {
  at::DataPtr allocate(size_t n) override {
    void* memory = c10::GetCPUAllocator()->raw_allocate(std::max<size_t>(n, 1));
    std::lock_guard<std::mutex> lock(pinning);
    pinned[static_cast<char*>(memory)] = std::max<size_t>(n, 1);
    return {memory, memory, &unpin, Device(c10::kCPU)};
  }
  static void unpin(void* memory) {
    {
      std::lock_guard<std::mutex> lock(pinning);
      pinned.erase(static_cast<char*>(memory));
    }
    c10::GetCPUAllocator()->raw_deallocate(memory);
  }
  c10::DeleterFnPtr raw_deleter() const override { return &unpin; }
  void copy_data(void* to, const void* from, size_t n) const override { default_copy_data(to, from, n); }
} pinned_allocator;

bool is_pinned(const void* data) {
  const auto* address = static_cast<const char*>(data);
  std::lock_guard<std::mutex> lock(pinning);
  const auto next = pinned.upper_bound(address);
  return next != pinned.begin() && address < std::prev(next)->first + std::prev(next)->second;
}

// ------------------------------------------------------------------------------------------- copies that do not block

// A real device may copy at any time before the host waits. Here a copy to the device happens when the next operation
// starts, and a copy to the host when the host waits: a program that touches host memory too early fails every time.
struct LateCopies {
  void add(std::function<void()> copy) {
    std::lock_guard<std::mutex> lock(mutex);
    waiting.push_back(std::move(copy));
  }
  void finish() {
    std::vector<std::function<void()>> taken;
    {
      std::lock_guard<std::mutex> lock(mutex);
      taken.swap(waiting);
    }
    for (auto& copy : taken) copy();
  }
  std::mutex mutex;
  std::vector<std::function<void()>> waiting;
};
auto& to_host = *new LateCopies;
auto& to_device = *new LateCopies;

void wait_for(DeviceIndex index) {
  ++devices[index].counters[kWaits];
  to_device.finish();
  to_host.finish();
}

// ------------------------------------------------------------------------------------------------ two views of memory

Tensor with_shape_of(const Tensor& other, Tensor tensor) {
  auto* impl = tensor.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(other.sizes(), other.strides(), other.storage_offset());
  impl->_set_conj(other.is_conj());
  impl->_set_neg(other.is_neg());
  return tensor;
}

Tensor over(Storage storage, const Tensor& like, c10::DispatchKey key) {
  c10::DispatchKeySet keys(key);
  if (like._is_zerotensor()) keys = keys.add(c10::DispatchKey::ZeroTensor);  // zeros of forward-mode AD: no memory
  return with_shape_of(like, at::detail::make_tensor<c10::TensorImpl>(std::move(storage), keys, like.dtype()));
}

// The tensors of one call, as sim and as CPU tensors. Tensors that share memory on one side share it on the other.
struct Mirror {
  std::unordered_map<const c10::StorageImpl*, Storage> host_of;  // sim storage to host storage
  std::unordered_map<const c10::StorageImpl*, Tensor> sim_of;    // host storage to a sim tensor over it

  Tensor host(const Tensor& sim) {
    if (!sim.defined() || sim.device().type() != kSim) return sim;
    const auto& storage = sim.storage();
    auto found = host_of.find(storage.unsafeGetStorageImpl());
    if (found == host_of.end()) {
      at::DataPtr memory(const_cast<void*>(storage.data()), Device(c10::kCPU));
      Storage made(Storage::use_byte_size_t{}, storage.nbytes(), std::move(memory), c10::GetCPUAllocator(), true);
      sim_of.emplace(made.unsafeGetStorageImpl(), sim);
      found = host_of.emplace(storage.unsafeGetStorageImpl(), std::move(made)).first;
    }
    return over(found->second, sim, c10::DispatchKey::CPU);
  }

  Tensor sim(const Tensor& host, DeviceIndex index) {
    if (!host.defined()) return host;
    require_type(host.scalar_type());
    const auto* storage = host.storage().unsafeGetStorageImpl();
    const auto found = sim_of.find(storage);
    if (found != sim_of.end()) {  // a view has the keys of its base: under inference_mode both can be normal tensors
      const auto& base = found->second;
      return with_shape_of(host, at::detail::make_tensor<c10::TensorImpl>(
          c10::TensorImpl::VIEW, Storage(base.storage()), base.key_set(), host.dtype()));
    }
    Storage made(Storage::use_byte_size_t{}, storage->nbytes(), adopt(host.storage(), index), &allocator, true);
    return sim_of.emplace(storage, over(std::move(made), host, kSimKey)).first->second;
  }

  // A kernel may have resized what it wrote to.
  void take_size(const Tensor& sim, const Tensor& host) {
    if (!sim.defined() || sim.device().type() != kSim) return;
    if (host.storage().data() != sim.storage().data() || host.storage().nbytes() != sim.storage().nbytes()) {
      auto* storage = sim.storage().unsafeGetStorageImpl();
      storage->set_data_ptr_noswap(adopt(host.storage(), sim.device().index()));
      storage->set_nbytes(host.storage().nbytes());
    }
    if (host.sizes() != sim.sizes() || host.strides() != sim.strides())
      sim.unsafeGetTensorImpl()->set_sizes_and_strides(host.sizes(), host.strides(), host.storage_offset());
  }
};

// -------------------------------------------------------------------------------------------------------- randomness

struct SimGenerator final : c10::GeneratorImpl {
  explicit SimGenerator(DeviceIndex index)
      : c10::GeneratorImpl(Device(kSim, index), c10::DispatchKeySet(kSimKey)), host(at::detail::createCPUGenerator()) {
    set_current_seed(c10::default_rng_seed_val);
  }
  // Scrambled, because a GPU's stream differs from the CPU's of the same seed.
  void set_current_seed(uint64_t seed) override { host.set_current_seed((given = seed) * 0x9E3779B97F4A7C15u + 0x51D); }
  uint64_t current_seed() const override { return given; }
  uint64_t seed() override {
    set_current_seed(c10::detail::getNonDeterministicRandom());
    return given;
  }
  void set_offset(uint64_t) override { TORCH_CHECK_NOT_IMPLEMENTED(false, "sim generators have no offset"); }
  uint64_t get_offset() const override { TORCH_CHECK_NOT_IMPLEMENTED(false, "sim generators have no offset"); }
  void set_state(const c10::TensorImpl& state) override { host.unsafeGetGeneratorImpl()->set_state(state); }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override { return host.unsafeGetGeneratorImpl()->get_state(); }
  SimGenerator* clone_impl() const override {
    auto* made = new SimGenerator(device_.index());
    made->given = given;
    made->set_state(*get_state());
    return made;
  }
  uint64_t given = 0;
  at::Generator host;
};

const at::Generator& default_generator(DeviceIndex index) {
  static const auto& all = *new std::vector<at::Generator>([] {
    std::vector<at::Generator> made;
    for (int k = 0; k < kMaxDevices; ++k) made.push_back(at::make_generator<SimGenerator>(DeviceIndex(k)));
    return made;
  }());
  return all.at(index < 0 ? current : index);
}

// Lets the CPU's kernel draw from the device's stream, and counts a draw if the stream has moved. A kernel that takes
// no generator draws from the CPU's global one, which therefore holds the device's state while this object lives.
struct RandomStream {
  RandomStream(const at::Generator& sim, bool is_passed)
      : index(sim.device().index()), host(static_cast<SimGenerator*>(sim.unsafeGetGeneratorImpl())->host),
        before(host.get_state()) {
    if (is_passed) return;
    global = at::detail::getDefaultCPUGenerator();
    kept = global.get_state();
    global.set_state(before);
  }
  ~RandomStream() {
    if (global.defined()) {
      host.set_state(global.get_state());
      global.set_state(kept);
    }
    const Tensor after = host.get_state();
    const bool is_moved = std::memcmp(before.const_data_ptr(), after.const_data_ptr(), before.nbytes()) != 0;
    devices[index].counters[kDraws] += is_moved;
  }
  DeviceIndex index;
  at::Generator host, global;
  Tensor before, kept;
};

bool is_generator(const c10::Argument& argument) {
  const auto* optional = argument.type()->castRaw<c10::OptionalType>();
  return optional && optional->getElementType()->kind() == c10::TypeKind::GeneratorType;
}

// ----------------------------------------------------------------------------------------- kernels that the CPU has

// As on CUDA, these accept a CPU tensor without dimensions as a number, as pointwise operations do,
const std::set<std::string> kTakesNumbers = {
    "aten::fill_", "aten::masked_fill_", "aten::masked_fill", "aten::index_put_", "aten::_index_put_impl_",
    "aten::index_fill_", "aten::bernoulli_", "aten::lerp", "aten::lerp_"};
// and these accept indices on the CPU, which they copy.
const std::set<std::string> kTakesIndices = {
    "aten::index", "aten::index_put_", "aten::_index_put_impl_", "aten::_unsafe_index", "aten::_unsafe_index_put"};

bool is_written(const c10::Argument& argument) { return argument.alias_info() && argument.alias_info()->isWrite(); }

template <class Function>
IValue map_tensors(const IValue& value, Function function) {
  if (value.isTensor()) return function(value.toTensor());
  if (value.isTensorList()) {
    c10::List<Tensor> mapped;
    for (const Tensor& each : value.toTensorList()) mapped.push_back(function(each));
    return mapped;
  }
  if (!value.isOptionalTensorList()) return value;
  c10::List<std::optional<Tensor>> mapped;
  for (const std::optional<Tensor>& each : value.toOptionalTensorList())
    mapped.push_back(each ? std::optional<Tensor>(function(*each)) : std::nullopt);
  return mapped;
}

std::vector<Tensor> tensors_of(const IValue& value) {
  std::vector<Tensor> found;
  map_tensors(value, [&](const Tensor& each) { return found.emplace_back(each); });
  return found;
}

// One call of an operator: takes the arguments from the stack, runs the CPU's kernel, and leaves the results.
struct Operation {
  const c10::OperatorHandle& op;
  torch::jit::Stack& stack;
  const std::vector<c10::Argument>& arguments = op.schema().arguments();
  const size_t first = stack.size() - arguments.size();
  const std::vector<IValue> given{stack.begin() + first, stack.end()};
  const std::string& name = op.operator_name().name;
  DeviceIndex index = -1;
  bool has_mask = false;
  Mirror mirror;
  std::optional<RandomStream> random;

  bool is_index(size_t k) const { return arguments[k].name() == "indices" && kTakesIndices.count(name); }

  bool may_be_on_cpu(const Tensor& tensor, size_t k) const {
    const bool takes_number = op.hasTag(at::Tag::pointwise) || kTakesNumbers.count(name);
    const bool is_number = tensor.dim() == 0 && given[k].isTensor() && !is_written(arguments[k]);
    return (takes_number && is_number) || tensor.unsafeGetTensorImpl()->is_wrapped_number() || is_index(k);
  }

  void check_place(const Tensor& tensor, size_t k) {
    const Device home(kSim, index);
    TORCH_CHECK(
        tensor.device() == home || (tensor.is_cpu() && may_be_on_cpu(tensor, k)),
        "Expected all tensors to be on the same device, but found at least two devices, ", home, " and ",
        tensor.device(), "! (argument ", arguments[k].name(), " of ", op.operator_name(), ")");
    if (!is_index(k)) return;
    if (tensor.is_cpu()) {
      count_copy(index, kToDevice, static_cast<int64_t>(tensor.nbytes()));
      wait_for(index);
    }
    has_mask |= !tensor.is_cpu() && (tensor.scalar_type() == at::kBool || tensor.scalar_type() == at::kByte);
  }

  void find_device() {
    Device device(kSim, current);
    bool is_found = false;
    for (const auto& value : given) {
      if (value.isDevice() && !is_found) device = value.toDevice();
      for (const Tensor& each : tensors_of(value)) {
        if (is_found || !each.defined() || each.device().type() != kSim) continue;
        device = each.device();
        is_found = true;
      }
    }
    usable(index = index_of(device));
    for (size_t k = 0; k < given.size(); ++k)
      for (const Tensor& each : tensors_of(given[k]))
        if (each.defined()) check_place(each, k);
  }

  // Whether the host must know values on the device before it can go on.
  bool makes_host_wait() const {
    if (op.hasTag(at::Tag::data_dependent_output)) return true;
    if (!kTakesIndices.count(name)) return op.hasTag(at::Tag::dynamic_output_shape);
    const bool is_masked_fill = given.size() > 3 && given[2].toTensor().numel() == 1 && !given[3].toBool();
    return has_mask && !is_masked_fill;
  }

  void pass_arguments() {
    for (size_t k = 0; k < given.size(); ++k) {
      auto& passed = stack[first + k];
      if (is_generator(arguments[k])) {
        const auto chosen = given[k].isNone() ? default_generator(index) : given[k].toGenerator();
        TORCH_CHECK(
            chosen.device().type() == kSim, "Expected a 'sim' device type for generator but found '",
            chosen.device().type(), "'");
        passed = random.emplace(chosen, true).host;
      } else if (given[k].isDevice()) {
        passed = Device(c10::kCPU);
      } else {
        passed = map_tensors(given[k], [&](const Tensor& sim) { return mirror.host(sim); });
      }
    }
    if (!random && op.hasTag(at::Tag::nondeterministic_seeded)) random.emplace(default_generator(index), false);
  }

  void take_sizes(const std::vector<IValue>& passed) {
    for (size_t k = 0; k < given.size(); ++k) {
      if (!is_written(arguments[k])) continue;
      const auto sims = tensors_of(given[k]), hosts = tensors_of(passed[k]);
      for (size_t j = 0; j < sims.size(); ++j) mirror.take_size(sims[j], hosts[j]);
    }
  }

  void take_results() {
    const auto& returns = op.schema().returns();
    const size_t start = stack.size() - returns.size();
    for (size_t k = 0; k < returns.size(); ++k) {
      auto& result = stack[start + k];
      const auto* alias = returns[k].alias_info();
      if (!alias || !alias->isWrite()) {
        result = map_tensors(result, [&](const Tensor& host) { return mirror.sim(host, index); });
        continue;
      }
      for (size_t j = 0; j < given.size(); ++j)  // the very argument that was written, not a view of its memory
        if (is_written(arguments[j]) && arguments[j].alias_info()->beforeSets() == alias->beforeSets())
          result = given[j];
    }
  }

  void run() {
    find_device();
    const auto& returns = op.schema().returns();
    const bool is_view = !returns.empty() && returns[0].alias_info() && !returns[0].alias_info()->isWrite();
    if (!is_view) count_op(index, op.operator_name());
    to_device.finish();
    if (makes_host_wait()) wait_for(index);
    pass_arguments();
    const std::vector<IValue> passed(stack.begin() + first, stack.end());
    {
      at::AutoDispatchBelowADInplaceOrView below;
      op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &stack);
    }
    random.reset();
    take_sizes(passed);
    take_results();
  }
};

void run_on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) { Operation{op, *stack}.run(); }

// ------------------------------------------------------------------------------------- kernels that the CPU has not

at::ScalarType checked_type(Type type, Flag pin = false) {
  TORCH_CHECK(!pin.value_or(false), "Only dense CPU tensors can be pinned");
  require_type(c10::dtype_or_default(type));
  return c10::dtype_or_default(type);
}

Tensor empty(at::IntArrayRef size, Type type, Layout, Place device, Flag pin, std::optional<at::MemoryFormat> format) {
  const c10::OptionalDeviceGuard on(device);
  return at::detail::empty_generic(size, &allocator, c10::DispatchKeySet(kSimKey), checked_type(type, pin), format);
}

Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride, Type type, Layout, Place device, Flag pin) {
  const c10::OptionalDeviceGuard on(device);
  const c10::DispatchKeySet keys(kSimKey);
  return at::detail::empty_strided_generic(size, stride, &allocator, keys, checked_type(type, pin));
}

Tensor zeros_without_memory(at::IntArrayRef size, Type type, Layout, Place device, Flag) {
  const c10::OptionalDeviceGuard on(device);
  at::native::ZeroTensorAllocator nothing(Device(kSim, current));
  const auto keys = c10::DispatchKeySet(kSimKey).add(c10::DispatchKey::ZeroTensor);
  return at::detail::empty_generic(size, &nothing, keys, checked_type(type), std::nullopt);
}

Tensor copy_from(const Tensor& from, const Tensor& to, bool non_blocking) {
  const bool is_download = to.is_cpu(), is_upload = from.is_cpu();
  const DeviceIndex index = (is_download ? from : to).device().index();
  usable(index);
  if (!is_download && !is_upload) usable(from.device().index());
  require_type(to.scalar_type());
  count_op(index, {"aten::_copy_from", ""});
  to_device.finish();
  if (is_download || is_upload)
    count_copy(index, is_download ? kToHost : kToDevice, static_cast<int64_t>(to.nbytes()));
  Mirror mirror;
  const Tensor source = mirror.host(from), target = mirror.host(to);
  at::AutoDispatchBelowADInplaceOrView below;
  const Tensor& outside = is_download ? target : source;
  const bool is_late = non_blocking && (is_download || is_upload) && is_pinned(outside.const_data_ptr());
  if (is_late && is_download) {
    const Tensor now = source.clone();  // the device works in order: later operations do not change what arrives
    if (target.is_non_overlapping_and_dense()) std::memset(target.data_ptr(), 0xFF, target.nbytes());
    to_host.add([target, now] { at::AutoDispatchBelowADInplaceOrView guard; target.copy_(now); });
  } else if (is_late) {
    to_device.add([target, source, to] { at::AutoDispatchBelowADInplaceOrView guard; target.copy_(source); });
  } else {
    if (is_download || is_upload) wait_for(index);  // as on CUDA: a copy that blocks waits for what was asked before
    target.copy_(source);
  }
  return to;
}

Tensor& set_storage(Tensor& self, Storage source, int64_t offset, at::IntArrayRef size, at::IntArrayRef stride) {
  TORCH_CHECK(source.device() == self.device(), "Expected a storage on ", self.device(), ", not ", source.device());
  self.unsafeGetTensorImpl()->set_storage_keep_dtype(std::move(source));
  const auto packed = c10::contiguous_strides(size);
  at::native::setStrided(self, size, stride.empty() ? at::IntArrayRef(packed) : stride, offset);
  return self;
}

Tensor& set_whole_storage(Tensor& self, Storage source) {
  const auto n = static_cast<int64_t>(source.nbytes() / self.dtype().itemsize());
  return set_storage(self, std::move(source), 0, {n}, {1});
}

Tensor& set_tensor(Tensor& self, const Tensor& source) {
  return set_storage(self, source.storage(), source.storage_offset(), source.sizes(), source.strides());
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&run_on_cpu>()); }
TORCH_LIBRARY_IMPL(_, AutogradPrivateUse1, m) { m.fallback(torch::CppFunction::makeFallthrough()); }
TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) { m.fallback(torch::CppFunction::makeFallthrough()); }

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", empty_strided);
  m.impl("_efficientzerotensor", zeros_without_memory);
  m.impl("_copy_from", copy_from);
  m.impl("set_.source_Storage_storage_offset", set_storage);
  m.impl("set_.source_Storage", set_whole_storage);
  m.impl("set_.source_Tensor", set_tensor);
  m.impl("record_stream", [](Tensor&, c10::Stream) {});
  m.impl("convolution", torch::CppFunction::makeFromBoxedFunction<&run_on_cpu>());
  m.impl("convolution_backward", torch::CppFunction::makeFromBoxedFunction<&run_on_cpu>());
  // A fallback alone would not do: torch prefers its kernels for any device, which round and wait unlike the CPU's.
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    const auto op = c10::Dispatcher::singleton().findOp(name);
    const bool has_cpu = op && name.getNamespace() == "aten" && op->hasKernelForDispatchKey(c10::DispatchKey::CPU);
    if (has_cpu && !op->hasKernelForDispatchKey(kSimKey))
      m.impl(c10::toString(name).c_str(), torch::CppFunction::makeFromBoxedFunction<&run_on_cpu>());
  }
}

#define LOWER_PRECISION(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, lower_precision_fp)
#define FULL_PRECISION(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32)
#define FULL_PRECISION_RESULT(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32_set_opt_dtype)
TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {  // the lists of CUDA
  AT_FORALL_LOWER_PRECISION_FP(LOWER_PRECISION)
  AT_FORALL_FP32(FULL_PRECISION)
  AT_FORALL_FP32_SET_OPT_DTYPE(FULL_PRECISION_RESULT)
}

// ---------------------------------------------------------------------------------------- devices, streams and events

struct SimGuard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kSim; }
  DeviceIndex deviceCount() const noexcept override { return static_cast<DeviceIndex>(n_devices); }
  Device getDevice() const override { return Device(kSim, current); }
  void uncheckedSetDevice(Device device) const noexcept override { current = index_of(device); }
  void setDevice(Device device) const override {
    state_of(index_of(device));
    current = index_of(device);
  }
  Device exchangeDevice(Device device) const override {
    const auto before = getDevice();
    setDevice(device);
    return before;
  }
  // A device has one stream, and an event is its device: all work happens in order.
  using Stream = c10::Stream;
  Stream getStream(Device device) const override { return Stream(Stream::DEFAULT, Device(kSim, index_of(device))); }
  Stream getDefaultStream(Device device) const override { return getStream(device); }
  Stream getNewStream(Device device, int = 0) const override { return getStream(device); }
  Stream getStreamFromGlobalPool(Device device, bool = false) const override { return getStream(device); }
  Stream exchangeStream(Stream stream) const override { return stream; }
  void synchronizeStream(const Stream& stream) const override { synchronizeDevice(stream.device_index()); }
  void synchronizeDevice(const DeviceIndex index) const override {
    usable(index);
    wait_for(index);
  }
  void record(void** event, const Stream&, const DeviceIndex index, const c10::EventFlag) const override {
    *event = &devices[index < 0 ? current : index];
  }
  void block(void*, const Stream&) const override {}
  void synchronizeEvent(void* event) const override {
    synchronizeDevice(static_cast<DeviceIndex>(static_cast<DeviceState*>(event) - devices));
  }
  void destroyEvent(void*, const DeviceIndex) const noexcept override {}
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, SimGuard)

struct SimHooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return n_devices > 0; }
  bool hasPrimaryContext(DeviceIndex) const override { return is_started; }
  DeviceIndex deviceCount() const override { return static_cast<DeviceIndex>(n_devices); }
  DeviceIndex getCurrentDevice() const override { return current; }
  void setCurrentDevice(DeviceIndex index) const override { SimGuard().setDevice(Device(kSim, index)); }
  DeviceIndex exchangeDevice(DeviceIndex index) const override {
    return SimGuard().exchangeDevice(Device(kSim, index)).index();
  }
  DeviceIndex maybeExchangeDevice(DeviceIndex index) const override {
    return index < 0 ? current : exchangeDevice(index);
  }
  bool isPinnedPtr(const void* data) const override { return is_pinned(data); }
  c10::Allocator* getPinnedMemoryAllocator() const override { return &pinned_allocator; }
  const at::Generator& getDefaultGenerator(DeviceIndex index) const override { return default_generator(index); }
  at::Generator getNewGenerator(DeviceIndex index) const override {
    return at::make_generator<SimGenerator>(index < 0 ? current : index);
  }
};

const bool is_registered = [] {
  c10::SetAllocator(kSim, &allocator);
  at::RegisterPrivateUse1HooksInterface(new SimHooks);
  return true;
}();

// ------------------------------------------------------------------------------------------------ controls for tests

at::Generator generator_of(int64_t index) {
  state_of(index);
  return default_generator(static_cast<DeviceIndex>(index));
}

TORCH_LIBRARY(sim_device, m) {
  m.def("set_device_count(int n) -> ()", [](int64_t n) {
    TORCH_CHECK(n >= 0 && n <= kMaxDevices, "sim error: ", n, " devices asked for, at most ", kMaxDevices, " possible");
    n_devices = static_cast<int>(n);
  });
  m.def("device_count() -> int", [] { return int64_t{n_devices}; });
  m.def("is_started() -> bool", [] { return is_started.load(); });
  m.def("is_forked() -> bool", [] { return is_forked.load(); });
  m.def("counts(int device) -> int[]", [](int64_t index) {
    const auto& counters = state_of(index).counters;
    return std::vector<int64_t>(std::begin(counters), std::end(counters));
  });
  m.def("limit(int device, int bytes) -> int", [](int64_t index, int64_t bytes) {
    return state_of(index).limit.exchange(bytes);
  });
  m.def("lose(int device, int after) -> ()", [](int64_t index, int64_t after) { state_of(index).ops_left = after; });
  m.def("set_missing(ScalarType type, bool is_missing) -> bool", [](at::ScalarType type, bool is_missing) {
    const uint64_t bit = uint64_t{1} << int(type);
    return bool((is_missing ? missing_types.fetch_or(bit) : missing_types.fetch_and(~bit)) & bit);
  });
  m.def("seed(int device, int seed) -> ()", [](int64_t index, int64_t seed) {
    generator_of(index).set_current_seed(static_cast<uint64_t>(seed));
  });
  m.def("rng_state(int device) -> Tensor", [](int64_t index) { return generator_of(index).get_state(); });
  m.def("set_rng_state(int device, Tensor state) -> ()", [](int64_t index, const Tensor& state) {
    generator_of(index).set_state(state);
  });
  m.def("record_kernels(bool is_on) -> Dict(str, int)", [](bool is_on) {
    std::lock_guard<std::mutex> lock(recording);
    c10::Dict<std::string, int64_t> found;
    for (const auto& [name, count] : kernels) found.insert(name, count);
    kernels.clear();
    is_recording = is_on;
    return found;
  });
}

}  // namespace
