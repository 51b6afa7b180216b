/*
 * address_unit.c: digests to positions: ranges, distinctness, and that they are as good as ideal.
 */
#include "check.h"

#include "address/address.h"

static const enum tepal_layout layouts[] = {TEPAL_LAYOUT_FLAT, TEPAL_LAYOUT_PARTITIONED,
                                            TEPAL_LAYOUT_BLOCKED, TEPAL_LAYOUT_PAIRED};

static struct address address_for(enum tepal_layout layout, enum tepal_positions positions,
                                  uint64_t cells, uint32_t hashes, uint32_t cell_bits)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.layout = layout;
    params.positions = positions;
    params.cells = cells;
    params.hashes = hashes;
    return tepal_address_of(&params, cell_bits);
}

static void subsets_are_all_of_their_size_once(void **state)
{
    (void)state;
    static const uint32_t binomial[] = {1, 8, 28, 56, 70, 56, 28, 8, 1};
    for (uint32_t r = 0; r <= 8; r++) {
        assert_int_equal(tepal_address_subset_count[r], binomial[r]);
        uint32_t before = 0;
        for (uint32_t i = 0; i < binomial[r]; i++) {
            uint32_t mask = 0;
            for (uint32_t s = 0; s < 8; s++) {
                uint64_t byte = tepal_address_subsets[r][i] >> (8 * s) & 0xff;
                assert_true(byte == 0 || byte == ADDRESS_SKIP);
                mask |= (uint32_t)(byte == 0) << s;
            }
            assert_int_equal(__builtin_popcount(mask), r);
            assert_true(i == 0 || mask > before);
            before = mask;
        }
    }
}

static void positions_are_in_range_and_distinct_when_asked(void **state)
{
    (void)state;
    uint64_t random = 3;
    static const uint64_t sizes[] = {512, 1024, 512 * 77};
    for (size_t l = 0; l < 4; l++) {
        uint32_t most = layouts[l] == TEPAL_LAYOUT_BLOCKED  ? TEPAL_MAX_HASHES_BLOCKED
                        : layouts[l] == TEPAL_LAYOUT_PAIRED ? TEPAL_MAX_HASHES_PAIRED
                                                            : TEPAL_MAX_HASHES;
        for (uint32_t k = 1; k <= most; k++) {
            for (int distinct = 0; distinct < 2; distinct++) {
                for (size_t s = 0; s < 3; s++) {
                    for (uint32_t cell_bits = 1; cell_bits <= 4; cell_bits += 3) {
                        uint64_t cells = sizes[s] / cell_bits;
                        if (cells < 2 * 512 / cell_bits && distinct &&
                            layouts[l] == TEPAL_LAYOUT_PAIRED) {
                            continue; /* the gate refuses it */
                        }
                        struct address at = address_for(layouts[l], (enum tepal_positions)distinct,
                                                        cells, k, cell_bits);
                        for (int t = 0; t < 20; t++) {
                            uint64_t p[TEPAL_MAX_HASHES];
                            assert_int_equal(tepal_address_positions(&at, check_digest(&random), p),
                                             k);
                            for (uint32_t i = 0; i < k; i++) {
                                assert_true(p[i] < cells);
                                for (uint32_t j = 0; j < i && distinct; j++) {
                                    assert_true(p[i] != p[j]);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

static void partitioned_positions_stay_in_their_slices(void **state)
{
    (void)state;
    uint64_t random = 4;
    static const uint64_t sizes[] = {7, 100, 1001, UINT64_C(1) << 60};
    for (size_t s = 0; s < 4; s++) {
        for (uint32_t k = 1; k <= 7; k++) {
            struct address at =
                address_for(TEPAL_LAYOUT_PARTITIONED, TEPAL_POSITIONS_COLLIDING, sizes[s], k, 1);
            for (int t = 0; t < 100; t++) {
                uint64_t p[TEPAL_MAX_HASHES];
                (void)tepal_address_positions(&at, check_digest(&random), p);
                for (uint32_t i = 0; i < k; i++) {
                    assert_true(p[i] >= address_slice_start(sizes[s], k, i));
                    assert_true(p[i] < address_slice_start(sizes[s], k, i + 1));
                }
            }
        }
    }
}

static void lines_hold_one_cell_a_sector(void **state)
{
    (void)state;
    uint64_t random = 5;
    for (uint32_t k = 1; k <= 16; k++) {
        struct address at =
            address_for(TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_DISTINCT, 512 * 9, k, 1);
        for (int t = 0; t < 500; t++) {
            uint64_t p[TEPAL_MAX_HASHES];
            uint32_t in_sector[8] = {0};
            (void)tepal_address_positions(&at, check_digest(&random), p);
            for (uint32_t i = 0; i < k; i++) {
                assert_true(p[i] / 512 == p[0] / 512);
                in_sector[p[i] % 512 / 64]++;
            }
            for (uint32_t s = 0; s < 8; s++) {
                assert_true(in_sector[s] >= k / 8 && in_sector[s] <= (k + 7) / 8);
            }
        }
    }
}

/* No digest, however chosen, may hold up the search for distinct positions. */
static void distinct_positions_end_for_any_digest(void **state)
{
    (void)state;
    static const uint64_t odd[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63, 0x40};
    for (size_t a = 0; a < 5; a++) {
        for (size_t b = 0; b < 5; b++) {
            struct tepal_digest d = {odd[a], odd[b]};
            for (uint32_t k = 1; k <= 64; k++) {
                struct address at =
                    address_for(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_DISTINCT, k, k, 1);
                uint64_t p[TEPAL_MAX_HASHES];
                uint64_t seen = 0;
                (void)tepal_address_positions(&at, d, p);
                for (uint32_t i = 0; i < k; i++) {
                    seen |= (uint64_t)1 << p[i];
                }
                assert_int_equal(__builtin_popcountll(seen), k);
            }
        }
    }
}

/*
 * Are positions free of structure? For three positions a, b, c of a key, the second difference
 * a - 2b + c modulo m is uniform if they are independent, and 0 or nearly so if they lie on an
 * arithmetic progression. Pearson's chi-square over m cells, against a limit of CHECK_Z on the
 * cube-root scale of Wilson and Hilferty, which is normal to good accuracy at these sizes.
 */
static double structure_z(uint64_t m, uint32_t a, uint32_t b, uint32_t c, bool progression,
                          bool integers)
{
    enum { KEYS = 200000 };
    uint32_t *seen = calloc(m, sizeof *seen);
    assert_non_null(seen);
    struct address at = address_for(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, m, 12, 1);
    struct tepal_hasher hasher;
    tepal_hasher_init(99, &hasher);
    for (uint64_t i = 0; i < KEYS; i++) {
        struct tepal_digest d =
            integers ? tepal_hash_u64(&hasher, i) : tepal_hash_bytes(&hasher, &i, sizeof i);
        uint64_t p[TEPAL_MAX_HASHES];
        if (progression) {
            for (uint32_t j = 0; j < 12; j++) {
                p[j] = (d.lo % m + j * (d.hi % m)) % m;
            }
        } else {
            (void)tepal_address_positions(&at, d, p);
        }
        seen[(p[a] + 2 * (m - p[b]) + p[c]) % m]++;
    }
    double expected = (double)KEYS / (double)m;
    double chi = 0;
    for (uint64_t i = 0; i < m; i++) {
        chi += (seen[i] - expected) * (seen[i] - expected) / expected;
    }
    free(seen);
    double dof = (double)m - 1;
    return (cbrt(chi / dof) - (1 - 2 / (9 * dof))) / sqrt(2 / (9 * dof));
}

static void flat_positions_are_no_arithmetic_progression(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {160, 256, 1009};
    for (size_t s = 0; s < 3; s++) {
        for (int integers = 0; integers < 2; integers++) {
            for (uint32_t i = 0; i + 2 < 12; i++) {
                double z = structure_z(sizes[s], i, i + 1, i + 2, false, integers);
                check_within("second differences of neighbours", z, 0, 1);
                z = structure_z(sizes[s], 0, 1, i + 2, false, integers);
                check_within("second differences with words 0 and 1", z, 0, 1);
            }
        }
        /* and the test can tell: double hashing fails it by far */
        assert_true(structure_z(sizes[s], 0, 1, 2, true, false) > 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(subsets_are_all_of_their_size_once),
        cmocka_unit_test(positions_are_in_range_and_distinct_when_asked),
        cmocka_unit_test(partitioned_positions_stay_in_their_slices),
        cmocka_unit_test(lines_hold_one_cell_a_sector),
        cmocka_unit_test(distinct_positions_end_for_any_digest),
        cmocka_unit_test(flat_positions_are_no_arithmetic_progression),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
