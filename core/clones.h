// HN_CLONES before a static function compiles it once per x86-64 level and lets the loader choose:
// wide vectors where the processor has them, from one source and one build. Only where the result
// is the same for any vector width (elementwise work, or sums in a fixed number of lanes). Not for
// exported functions, which Clang 14 would give another name.
// Sanitizers instrument code that the loader would run before they are set up: no clones there.
#ifndef HN_CORE_CLONES_H
#define HN_CORE_CLONES_H

#if defined(__has_feature)
#define HN_CLANG_SANITIZED                                                                         \
    (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                        \
     __has_feature(memory_sanitizer) || __has_feature(undefined_behavior_sanitizer))
#else
#define HN_CLANG_SANITIZED 0
#endif

// A program for tests may have the narrower clones alone: make CPPFLAGS=-DHN_SIMD_MAX=0.
#ifndef HN_SIMD_MAX
#define HN_SIMD_MAX 2
#endif

#if HN_SIMD_MAX == 0 || !defined(__x86_64__) || !defined(__linux__) ||                             \
    defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || HN_CLANG_SANITIZED
#define HN_CLONES
#elif HN_SIMD_MAX == 1
#define HN_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define HN_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif

#endif
