// cxx_use.cpp: the public headers compile as C++ and link against the shared library.
#include <tepal/inline.h>
#include <tepal/tepal.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

int main()
{
    struct tepal_filter *bloom = nullptr;
    if (tepal_filter_create_for_rate(TEPAL_KIND_BLOOM, 1000, 0.01, 7, &bloom, nullptr) !=
        TEPAL_OK) {
        return 1;
    }
    std::vector<std::uint64_t> keys(1000);
    for (std::size_t i = 0; i < keys.size(); i++) {
        keys[i] = i * i;
    }
    std::vector<std::uint64_t> answers((keys.size() + 63) / 64);
    bool good = tepal_filter_add_u64_many(bloom, keys.data(), keys.size()) == TEPAL_OK &&
                tepal_filter_query_u64_many(bloom, keys.data(), keys.size(), answers.data()) ==
                    keys.size() &&
                tepal_filter_query_u64(bloom, 81);
    struct tepal_direct direct;
    good = good && tepal_direct_of(bloom, &direct) == TEPAL_OK &&
           tepal_direct_query_u64(&direct, 81) && tepal_direct_add_u64(&direct, 82) == TEPAL_OK &&
           tepal_filter_query_u64(bloom, 82);
    std::vector<unsigned char> bytes(tepal_encoded_bytes(bloom));
    struct tepal_filter *copy = nullptr;
    good = good && tepal_encode(bloom, bytes.data(), bytes.size(), nullptr) == TEPAL_OK &&
           tepal_decode(bytes.data(), bytes.size(), nullptr, &copy, nullptr) == TEPAL_OK &&
           tepal_filter_equal(copy, bloom);
    tepal_filter_free(copy);
    copy = nullptr;
    struct tepal_terms terms = TEPAL_TERMS_INIT;
    struct tepal_judgement judgement;
    good = good &&
           tepal_receive(bytes.data(), bytes.size(), &terms, nullptr, &copy, &judgement, nullptr) ==
               TEPAL_OK &&
           judgement.verdict == TEPAL_ACCEPTED && copy != nullptr;
    tepal_filter_free(copy);
    tepal_filter_free(bloom);
    std::printf("%d passed, %d failed\n", good ? 1 : 0, good ? 0 : 1);
    return good ? 0 : 1;
}
