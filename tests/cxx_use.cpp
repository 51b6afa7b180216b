// cxx_use.cpp: the public headers compile as C++ and link against the shared library.
#include <tepal/tepal.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

int main()
{
    struct tepal_bloom *bloom = nullptr;
    if (tepal_bloom_create_for_rate(1000, 0.01, 7, &bloom) != TEPAL_OK) {
        return 1;
    }
    std::vector<std::uint64_t> keys(1000);
    for (std::size_t i = 0; i < keys.size(); i++) {
        keys[i] = i * i;
    }
    std::vector<std::uint64_t> answers((keys.size() + 63) / 64);
    std::size_t present = 0;
    bool good = tepal_bloom_add_u64_many(bloom, keys.data(), keys.size()) == TEPAL_OK &&
                tepal_bloom_query_u64_many(bloom, keys.data(), keys.size(), answers.data(),
                                           &present) == TEPAL_OK &&
                present == keys.size();
    std::vector<unsigned char> bytes(tepal_encoded_bytes(tepal_bloom_filter(bloom)));
    struct tepal_filter *copy = nullptr;
    good = good &&
           tepal_encode(tepal_bloom_filter(bloom), bytes.data(), bytes.size()) == TEPAL_OK &&
           tepal_decode(bytes.data(), bytes.size(), nullptr, &copy, nullptr) == TEPAL_OK &&
           tepal_filter_equal(copy, tepal_bloom_filter(bloom));
    tepal_filter_free(copy);
    copy = nullptr;
    struct tepal_terms terms = TEPAL_TERMS_INIT;
    struct tepal_receipt receipt;
    good = good &&
           tepal_receive(bytes.data(), bytes.size(), &terms, nullptr, &receipt, &copy) == TEPAL_OK &&
           receipt.verdict == TEPAL_ACCEPTED && copy != nullptr;
    tepal_filter_free(copy);
    tepal_bloom_free(bloom);
    std::printf("%d passed, %d failed\n", good ? 1 : 0, good ? 0 : 1);
    return good ? 0 : 1;
}
