/*
 * tepal.hpp: tepal for C++17. A thin header over the C interface (tepal/tepal.h): move-only handles
 * that free themselves, keys as std::string_view or integers, exceptions with the library's error
 * message. It adds no state, no virtual calls and no allocations.
 *
 *     #include <tepal.hpp>
 *
 *     auto seen = tepal::filter::for_rate(TEPAL_KIND_BLOOM, 1'000'000, 0.01, 42);
 *     seen.add("example.org");
 *     if (seen.contains("example.org")) ...
 *     seen.save("seen.tepal");
 *     auto again = tepal::filter::load("seen.tepal");
 *
 * Keys: anything that converts to std::string_view is a string of bytes. Any integer type is a
 * 64-bit integer key (negative numbers are sign-extended), which is a different key from the string
 * of its digits. A tepal_digest is a key that was hashed before. For everything else pass handle()
 * to the C calls and use the C structs (tepal_params, tepal_known, tepal_wish, ...) as they are.
 *
 * A moved-from filter is empty: test it with `if (f)`, assign to it or destroy it; nothing else is
 * allowed.
 *
 * Threads: as in the C interface, const calls may run concurrently.
 */
#ifndef TEPAL_TEPAL_HPP
#define TEPAL_TEPAL_HPP

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tepal/tepal.h>

namespace tepal
{

/* What a failed call throws: its status, and the error message. */
class error : public std::exception
{
  public:
    explicit error(tepal_status status) noexcept : error(status, tepal_status_message(status)) {}
    explicit error(const tepal_error &e) noexcept : details_(e) {}
    error(tepal_status status, const char *why) noexcept : details_{status, 0, 0, why} {}
    const char *what() const noexcept override
    {
        return details_.why;
    }
    tepal_status status() const noexcept
    {
        return details_.status;
    }
    int system() const noexcept
    {
        return details_.system;
    }
    std::uint64_t offset() const noexcept
    {
        return details_.offset;
    }

  private:
    tepal_error details_;
};

inline void check(tepal_status status)
{
    if (status != TEPAL_OK) {
        throw error(status);
    }
}

inline void check(tepal_status status, const tepal_error &details)
{
    if (status != TEPAL_OK) {
        throw details.why == nullptr ? error(status) : error(details);
    }
}

/* Parameters to start from: a Bloom filter without a size, or of another kind. */
inline tepal_params params(tepal_kind_id kind = TEPAL_KIND_BLOOM) noexcept
{
    tepal_params p = TEPAL_PARAMS_INIT;
    p.kind = kind;
    return p;
}

/* An integer that is a key: any integer type but bool and the character types. */
template <typename T>
inline constexpr bool is_integer_key = std::is_integral_v<T> &&
                                       sizeof(T) <= sizeof(std::uint64_t) &&
                                       !std::is_same_v<T, bool> && !std::is_same_v<T, char> &&
                                       !std::is_same_v<T, wchar_t> &&
                                       !std::is_same_v<T, char16_t> && !std::is_same_v<T, char32_t>
#ifdef __cpp_char8_t
                                       && !std::is_same_v<T, char8_t>
#endif
    ;

template <typename T> using integer_key = std::enable_if_t<is_integer_key<T>, int>;

/* Keys to digests; a value. */
class hasher
{
  public:
    explicit hasher(std::uint64_t seed) noexcept
    {
        tepal_hasher_init(seed, &c_);
    }
    hasher(std::uint64_t seed, const std::uint8_t (&key)[TEPAL_KEY_BYTES],
           tepal_hash hash = TEPAL_HASH_SIPHASH) noexcept
    {
        if (tepal_hasher_init_by(hash, seed, key, &c_) != TEPAL_OK) {
            tepal_hasher_init_keyed(seed, key, &c_);
        }
    }
    explicit hasher(const tepal_hasher &c) noexcept : c_(c) {}
    tepal_digest operator()(std::nullptr_t) const = delete;
    tepal_digest operator()(std::string_view key) const noexcept
    {
        return tepal_hash_bytes(&c_, key.data(), key.size());
    }
    template <typename T, integer_key<T> = 0> tepal_digest operator()(T key) const noexcept
    {
        return tepal_hash_u64(&c_, static_cast<std::uint64_t>(key));
    }
    const tepal_hasher &c() const noexcept
    {
        return c_;
    }

  private:
    tepal_hasher c_;
};

/* A filter of any kind. Moves, and is freed with its owner; clone() copies. */
class filter
{
  public:
    /* Takes over a handle that a C call has made. */
    explicit filter(tepal_filter *handle) noexcept : handle_(handle) {}

    explicit filter(const tepal_params &params, const tepal_allocator *allocator = nullptr)
    {
        tepal_filter *made = nullptr;
        tepal_error why{};
        check(tepal_filter_create(&params, allocator, &made, &why), why);
        handle_.reset(made);
    }

    [[nodiscard]] static filter for_rate(tepal_kind_id kind, std::uint64_t keys, double fp,
                                         std::uint64_t seed)
    {
        return make([&](tepal_filter **out, tepal_error *why) {
            return tepal_filter_create_for_rate(kind, keys, fp, seed, out, why);
        });
    }
    [[nodiscard]] static filter load(const std::string &path,
                                     const tepal_allocator *allocator = nullptr)
    {
        return make([&](tepal_filter **out, tepal_error *why) {
            return tepal_load(path.c_str(), allocator, out, why);
        });
    }
    [[nodiscard]] static filter map(const std::string &path, tepal_map_check how = TEPAL_MAP_VERIFY)
    {
        return make([&](tepal_filter **out, tepal_error *why) {
            return tepal_map(path.c_str(), how, nullptr, out, why);
        });
    }
    [[nodiscard]] static filter decode(std::string_view bytes,
                                       const tepal_allocator *allocator = nullptr)
    {
        return make([&](tepal_filter **out, tepal_error *why) {
            return tepal_decode(bytes.data(), bytes.size(), allocator, out, why);
        });
    }

    /*
     * Wraps the filter that a C call creates: `make_it(tepal_filter **out, tepal_error *why)` makes
     * the call (tepal_retouch, tepal_yesno_build, tepal_plan_build, ...) and returns its status. The
     * result is empty if the call creates none, as when tepal_receive refuses a filter.
     */
    template <typename Call> [[nodiscard]] static filter make(Call &&make_it)
    {
        tepal_filter *made = nullptr;
        tepal_error why{};
        check(make_it(&made, &why), why);
        return filter(made);
    }

    [[nodiscard]] filter clone(const tepal_allocator *allocator = nullptr) const
    {
        return make([&](tepal_filter **out, tepal_error *why) {
            return tepal_filter_clone(handle(), allocator, out, why);
        });
    }

    tepal_filter *handle() noexcept
    {
        return handle_.get();
    }
    const tepal_filter *handle() const noexcept
    {
        return handle_.get();
    }
    explicit operator bool() const noexcept
    {
        return handle_ != nullptr;
    }
    [[nodiscard]] tepal_filter *release() noexcept
    {
        return handle_.release();
    }

    void set_key(const std::uint8_t (&key)[TEPAL_KEY_BYTES])
    {
        check(tepal_filter_set_key(handle(), key));
    }
    hasher get_hasher() const
    {
        tepal_hasher h;
        check(tepal_filter_hasher(handle(), &h));
        return hasher(h);
    }

    /* ---- one key ---- */

    void add(std::string_view key)
    {
        check(tepal_filter_add_bytes(handle(), key.data(), key.size()));
    }
    void add(std::nullptr_t) = delete;
    void add(tepal_digest key)
    {
        check(tepal_filter_add(handle(), key));
    }
    template <typename T, integer_key<T> = 0> void add(T key)
    {
        check(tepal_filter_add_u64(handle(), static_cast<std::uint64_t>(key)));
    }

    bool contains(std::nullptr_t) const = delete;
    [[nodiscard]] bool contains(std::string_view key) const noexcept
    {
        return tepal_filter_query_bytes(handle(), key.data(), key.size());
    }
    [[nodiscard]] bool contains(tepal_digest key) const noexcept
    {
        return tepal_filter_query(handle(), key);
    }
    template <typename T, integer_key<T> = 0> [[nodiscard]] bool contains(T key) const noexcept
    {
        return tepal_filter_query_u64(handle(), static_cast<std::uint64_t>(key));
    }

    /* Adds the key; was it (perhaps) there before? */
    bool test_add(std::nullptr_t) = delete;
    bool test_add(std::string_view key)
    {
        bool was;
        check(tepal_filter_test_add_bytes(handle(), key.data(), key.size(), &was));
        return was;
    }
    bool test_add(tepal_digest key)
    {
        bool was;
        check(tepal_filter_test_add(handle(), key, &was));
        return was;
    }
    template <typename T, integer_key<T> = 0> bool test_add(T key)
    {
        bool was;
        check(tepal_filter_test_add_u64(handle(), static_cast<std::uint64_t>(key), &was));
        return was;
    }

    /* False if the key is not there (or is kept); other failures throw. */
    bool remove(std::nullptr_t) = delete;
    bool remove(std::string_view key)
    {
        return removed(tepal_filter_remove_bytes(handle(), key.data(), key.size()));
    }
    bool remove(tepal_digest key)
    {
        return removed(tepal_filter_remove(handle(), key));
    }
    template <typename T, integer_key<T> = 0> bool remove(T key)
    {
        return removed(tepal_filter_remove_u64(handle(), static_cast<std::uint64_t>(key)));
    }

    bool needs_key() const noexcept
    {
        return tepal_filter_needs_key(handle());
    }

    /* ---- many keys: contiguous arrays; answers as in tepal_filter_query_many ---- */

    void add(const tepal_digest *keys, std::size_t count)
    {
        check(tepal_filter_add_many(handle(), keys, count));
    }
    void add(const std::uint64_t *keys, std::size_t count)
    {
        check(tepal_filter_add_u64_many(handle(), keys, count));
    }
    std::size_t contains(const tepal_digest *keys, std::size_t count,
                         std::uint64_t *answers) const noexcept
    {
        return tepal_filter_query_many(handle(), keys, count, answers);
    }
    std::size_t contains(const std::uint64_t *keys, std::size_t count,
                         std::uint64_t *answers) const noexcept
    {
        return tepal_filter_query_u64_many(handle(), keys, count, answers);
    }

    /* ---- whole filters ---- */

    void clear()
    {
        check(tepal_filter_clear(handle()));
    }
    void unite(const filter &other)
    {
        check(tepal_filter_unite(handle(), other.handle()));
    }
    void intersect(const filter &other)
    {
        check(tepal_filter_intersect(handle(), other.handle()));
    }
    friend bool operator==(const filter &a, const filter &b) noexcept
    {
        return tepal_filter_equal(a.handle(), b.handle());
    }
    friend bool operator!=(const filter &a, const filter &b) noexcept
    {
        return !(a == b);
    }

    void save(const std::string &path) const
    {
        tepal_error why{};
        check(tepal_save(handle(), path.c_str(), &why), why);
    }
    std::string encode() const
    {
        std::string bytes(static_cast<std::size_t>(tepal_encoded_bytes(handle())), '\0');
        tepal_error why{};
        check(tepal_encode(handle(), bytes.data(), bytes.size(), &why), why);
        return bytes;
    }

    const tepal_params &params() const &noexcept
    {
        return *tepal_filter_params(handle());
    }
    const tepal_params &params() && = delete; /* it would not outlive the filter */
    const tepal_kind &kind() const noexcept
    {
        return *tepal_filter_kind(handle());
    }
    std::uint64_t keys_added() const noexcept
    {
        return tepal_filter_keys_added(handle());
    }
    std::uint64_t memory_bytes() const noexcept
    {
        return tepal_filter_memory_bytes(handle());
    }
    double fp_now() const noexcept
    {
        return tepal_filter_fp_now(handle());
    }
    void validate() const
    {
        tepal_error why{};
        check(tepal_filter_validate(handle(), &why), why);
    }

  private:
    struct freer {
        void operator()(tepal_filter *f) const noexcept
        {
            tepal_filter_free(f);
        }
    };
    static bool removed(tepal_status status)
    {
        if (status != TEPAL_OK && status != TEPAL_NOT_PRESENT) {
            throw error(status);
        }
        return status == TEPAL_OK;
    }
    std::unique_ptr<tepal_filter, freer> handle_;
};

static_assert(sizeof(filter) == sizeof(tepal_filter *), "a filter is its handle and nothing more");

} // namespace tepal

#endif
