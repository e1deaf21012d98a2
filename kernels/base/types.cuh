// Fixed-width integers and three type traits, the same under NVRTC and a C++17 compiler.
//
// Included by every header, because <cuda/std/type_traits> costs NVRTC more than 1 s for each compiled kernel.
#pragma once
#ifdef __CUDACC_RTC__
#include <cuda/std/cstdint>
using cuda::std::int8_t;
using cuda::std::int16_t;
using cuda::std::int32_t;
using cuda::std::int64_t;
using cuda::std::uint8_t;
using cuda::std::uint16_t;
using cuda::std::uint32_t;
using cuda::std::uint64_t;
#else
#include <cmath>
#include <cstdint>
#include <cstring>
#endif

namespace grb {

template <class T> struct same_as_float { static constexpr bool value = false; };
template <> struct same_as_float<float> { static constexpr bool value = true; };
template <> struct same_as_float<double> { static constexpr bool value = true; };
template <class A, class B> struct same_types { static constexpr bool value = false; };
template <class A> struct same_types<A, A> { static constexpr bool value = true; };
template <bool, class A, class B> struct either { using type = A; };
template <class A, class B> struct either<false, A, B> { using type = B; };

template <class T> constexpr bool is_float = same_as_float<T>::value;
template <class A, class B> constexpr bool is_same = same_types<A, B>::value;
template <bool first, class A, class B> using choose = typename either<first, A, B>::type;

}  // namespace grb
