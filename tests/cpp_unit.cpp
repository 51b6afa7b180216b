// cpp_unit.cpp: the C++ header: every kind of key, moves, exceptions with the library's sentence,
// filters made by C calls, and no cost over C: a filter is its handle.
#include <tepal.hpp>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <unistd.h>

static int passed;
static int failed;

static void expect(bool good, const char *what)
{
    (good ? passed : failed)++;
    if (!good) {
        std::printf("not ok: %s\n", what);
    }
}

// Does the call throw this status, with a sentence?
template <typename Call> static bool throws(tepal_status status, Call &&call)
{
    try {
        call();
    } catch (const tepal::error &e) {
        return e.status() == status && std::strlen(e.what()) > 5;
    }
    return false;
}

static_assert(!std::is_copy_constructible_v<tepal::filter>, "filters move, they are not copied");
static_assert(std::is_nothrow_move_constructible_v<tepal::filter>, "and moving cannot fail");
static_assert(!tepal::is_integer_key<char> && !tepal::is_integer_key<bool>, "no text, no truth");
static_assert(sizeof(tepal::filter) == sizeof(void *), "nothing but the handle");

static void keys()
{
    auto f = tepal::filter::for_rate(TEPAL_KIND_BLOOM, 1000, 1e-6, 7);
    std::string text = "string";
    f.add("literal");
    f.add(text);
    f.add(std::string_view("view"));
    f.add(5);
    f.add(std::uint64_t{1} << 40);
    tepal::hasher hash = f.get_hasher();
    f.add(hash("digest"));
    expect(f.contains("literal") && f.contains("string") && f.contains(text) && f.contains("view"),
           "strings are found");
    expect(f.contains(5u) && f.contains(5LL) && f.contains(std::uint64_t{1} << 40),
           "integers are found, whatever their type");
    expect(f.contains("digest") && f.contains(hash("literal")), "digests are those of the filter");
    expect(!f.contains("5") && !f.contains(6) && !f.contains("nothing"), "others are not");
    expect(f.keys_added() == 6, "six keys were added");
    expect(!f.test_add("new") && f.test_add("new") && !f.test_add(77) && f.test_add(77) &&
               f.test_add(hash("new")),
           "test_add says whether it was there");
    // What C finds, C++ finds.
    expect(tepal_filter_query_bytes(f.handle(), "view", 4) && tepal_filter_query_u64(f.handle(), 5),
           "the same keys in C");
    f.add(-3);
    expect(f.contains(std::int8_t{-3}) && f.contains(UINT64_MAX - 2) && !f.contains(3),
           "negative integers are extended");
}

static void batches()
{
    tepal_params p = tepal::params();
    p.layout = TEPAL_LAYOUT_BLOCKED;
    tepal_error why;
    tepal::check(tepal_params_for_rate(&p, 1000, 0.01, &why), why);
    tepal::filter f(p);
    std::vector<std::uint64_t> numbers(1000);
    std::vector<tepal_digest> digests(1000);
    for (std::size_t i = 0; i < numbers.size(); i++) {
        numbers[i] = i * i;
        digests[i] = f.get_hasher()(i * i + 1000000007);
    }
    std::vector<std::uint64_t> answers((numbers.size() + 63) / 64);
    f.add(numbers.data(), numbers.size());
    expect(f.contains(numbers.data(), numbers.size(), answers.data()) == 1000, "integers");
    f.add(digests.data(), digests.size());
    expect(f.contains(digests.data(), digests.size(), answers.data()) == 1000, "digests");
}

static void whole()
{
    auto a = tepal::filter::for_rate(TEPAL_KIND_COUNTING, 100, 0.001, 7);
    a.add("one");
    auto b = a.clone();
    expect(a == b, "a clone is equal");
    b.add("two");
    expect(a != b && b.contains("two") && !a.contains("two"), "and its own");
    expect(b.remove("two") && !b.remove("two") && a == b, "removal tells");
    a.unite(b);
    auto c = tepal::filter::decode(a.encode());
    expect(c == a && c.params().kind == TEPAL_KIND_COUNTING, "encoded and decoded");
    c.validate();
    tepal::filter moved = std::move(c);
    expect(moved && moved.contains("one") && !c, "moving leaves nothing behind");
    c = std::move(moved);
    expect(c.contains("one"), "moved back");
    c.clear();
    expect(!c.contains("one") && c.memory_bytes() > 0 && c.fp_now() == 0, "cleared");

    auto left = tepal::filter::for_rate(TEPAL_KIND_BLOOM, 100, 1e-6, 7);
    auto right = left.clone();
    left.add("left"), left.add("both"), right.add("both"), right.add("right");
    left.intersect(right);
    expect(left.contains("both") && !left.contains("left") && !left.contains("right"),
           "intersected");
}

// Through a file: saved, loaded, mapped.
static void files()
{
    char folder[] = "/tmp/tepal-cpp-XXXXXX";
    if (mkdtemp(folder) == nullptr) {
        expect(false, "a folder for files");
        return;
    }
    std::string path = std::string(folder) + "/seen.tepal";
    auto f = tepal::filter::for_rate(TEPAL_KIND_BLOOM, 100, 0.001, 7);
    f.add("example.org");
    f.save(path);
    {
        auto loaded = tepal::filter::load(path);
        auto mapped = tepal::filter::map(path, TEPAL_MAP_LAZY);
        expect(loaded == f && loaded.contains("example.org"), "loaded");
        expect(mapped == f && mapped.contains("example.org"), "mapped");
        loaded.add("loaded filters can be written");
        expect(throws(TEPAL_READ_ONLY, [&] { mapped.add("x"); }), "a mapped one cannot");
    }
    unlink(path.c_str());
    rmdir(folder);
}

// The exception carries what the C call says.
static void sentences()
{
    tepal_error why;
    tepal_filter *none;
    tepal_params p = tepal::params();
    p.cells = 100;
    p.hashes = 99;
    expect(tepal_filter_create(&p, nullptr, &none, &why) == TEPAL_BAD_PARAMETER, "99 hashes");
    try {
        tepal::filter f(p);
        expect(false, "it throws");
    } catch (const std::exception &e) {
        expect(std::strcmp(e.what(), why.why) == 0, "with the sentence of the parameter");
    }
    try {
        (void)tepal::filter::load("/does/not/exist");
        expect(false, "it throws");
    } catch (const tepal::error &e) {
        expect(tepal_load("/does/not/exist", nullptr, &none, &why) == TEPAL_IO &&
                   std::strcmp(e.what(), why.why) == 0 && e.system() == why.system &&
                   e.system() == ENOENT,
               "with the sentence and the errno of the file");
    }
    auto bytes = tepal::filter::for_rate(TEPAL_KIND_BLOOM, 100, 0.01, 7).encode();
    bytes[300] ^= 1;
    try {
        (void)tepal::filter::decode(bytes);
        expect(false, "it throws");
    } catch (const tepal::error &e) {
        expect(e.status() == TEPAL_BAD_CHECKSUM && e.offset() == 256, "with the place of damage");
    }
}

static void failures()
{
    expect(throws(TEPAL_BAD_ARGUMENT,
                  [] { (void)tepal::filter::for_rate(TEPAL_KIND_BLOOM, 100, 2, 7); }),
           "a rate of 2");
    expect(throws(TEPAL_BAD_PARAMETER, [] { tepal::filter f(tepal::params()); }), "no size");
    expect(throws(TEPAL_NOT_A_FILTER, [] { (void)tepal::filter::decode(std::string(1000, 'x')); }),
           "no filter");
    expect(throws(TEPAL_IO, [] { (void)tepal::filter::load("/does/not/exist"); }), "no file");
    auto f = tepal::filter::for_rate(TEPAL_KIND_BLOOM, 100, 0.01, 7);
    expect(throws(TEPAL_UNSUPPORTED, [&] { f.remove("x"); }), "a Bloom filter forgets nothing");
    expect(throws(TEPAL_BAD_ARGUMENT,
                  [] {
                      (void)tepal::filter::make(
                          [](tepal_filter **, tepal_error *) { return TEPAL_BAD_ARGUMENT; });
                  }),
           "a call that says nothing more than its status");
    const std::uint8_t secret[TEPAL_KEY_BYTES] = {1, 2, 3};
    expect(throws(TEPAL_UNSUPPORTED, [&] { f.set_key(secret); }), "it has no key");
    tepal_params p = f.params();
    p.hash = TEPAL_HASH_SIPHASH;
    tepal::filter keyed(p);
    expect(keyed.needs_key() && !f.needs_key() && keyed.contains("x"), "it cannot tell yet");
    expect(throws(TEPAL_KEY_NEEDED, [&] { keyed.add("x"); }), "a keyed filter needs its key");
    keyed.set_key(secret);
    keyed.add("x");
    expect(!keyed.needs_key() && keyed.contains("x") &&
               keyed.contains(tepal::hasher(7, secret)("x")),
           "and then adds");
}

// A filter that a C call makes.
static void made()
{
    auto bloom = tepal::filter::for_rate(TEPAL_KIND_BLOOM, 1000, 0.05, 7);
    tepal::hasher hash = bloom.get_hasher();
    std::vector<tepal_digest> members(1000);
    std::vector<tepal_digest> avoid(1000);
    for (std::size_t i = 0; i < 1000; i++) {
        members[i] = hash(i);
        avoid[i] = hash(i + 1000);
    }
    bloom.add(members.data(), members.size());
    tepal_known known = {};
    known.members = members.data();
    known.member_count = members.size();
    known.avoid = avoid.data();
    known.avoid_count = avoid.size();
    tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
    tepal_retouch_report report;
    auto clean = tepal::filter::make([&](tepal_filter **out, tepal_error *why) {
        return tepal_retouch(bloom.handle(), &known, &options, nullptr, out, &report, nullptr, why);
    });
    std::vector<std::uint64_t> answers(16);
    expect(report.avoid_positive > 0 &&
               clean.contains(avoid.data(), avoid.size(), answers.data()) == 0,
           "retouched by the C call");
    tepal::filter taken(clean.release());
    expect(clean.handle() == nullptr && taken.kind().id == TEPAL_KIND_RETOUCHED, "released, taken");
}

int main()
{
    keys();
    batches();
    whole();
    files();
    sentences();
    failures();
    made();
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
