/*
 * lines_unit.c: what the applications' readers share: lines that are passed over, a first line that
 * names the columns, pieces of lines, arrays that grow; and the command's random numbers.
 */
#include "check.h"

#include "statistics/random.h"
#include "readers/lines.h"
#include "shared/grow.h"

static struct piece piece(const char *text)
{
    return (struct piece){text, strlen(text)};
}

static void test_split(void **state)
{
    struct piece field[3];
    (void)state;
    assert_int_equal(piece_split(piece(""), '\t', field, 3), 1);
    assert_int_equal(field[0].len, 0);
    assert_int_equal(piece_split(piece("a\t\tbc"), '\t', field, 3), 3);
    assert_true(piece_is(field[0], "a") && piece_is(field[1], "") && piece_is(field[2], "bc"));
    assert_int_equal(piece_split(piece("a\tb\tc\td"), '\t', field, 3), 4);
    assert_int_equal(piece_split(piece("a b\tc"), ' ', field, 3), 2);
    assert_true(piece_is(field[1], "b\tc"));
}

static void test_pieces(void **state)
{
    char text[4];
    char why[80];
    (void)state;
    assert_false(piece_is(piece("ab"), "a") || piece_is(piece("a"), "ab"));
    assert_true(piece_copy(piece("abc"), text, sizeof text));
    assert_string_equal(text, "abc");
    assert_false(piece_copy(piece("abcd"), text, sizeof text));
    assert_false(piece_copy((struct piece){"a\0b", 3}, text, sizeof text));
    assert_string_equal(piece_wrong(piece("x"), "not a port", why, sizeof why), "not a port: 'x'");
    char longer[61];
    memset(longer, 'y', 60);
    longer[60] = '\0';
    assert_int_equal(strlen(piece_wrong(piece(longer), "w", why, sizeof why)), 48 + 5);
}

static void test_sorts(void **state)
{
    static const struct {
        uint64_t number;
        const char *line;
        enum line_sort sort;
        size_t len;
    } cases[] = {{1, "", LINE_NOTHING, 0},
                 {1, "\r", LINE_NOTHING, 0},
                 {1, "# a remark", LINE_NOTHING, 10},
                 {1, "# a\tb\r", LINE_NAMES, 5},
                 {2, "# a\tb", LINE_NOTHING, 5},
                 {1, "a\tb\r", LINE_VALUES, 3},
                 {9, " #", LINE_VALUES, 2}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct piece line = piece(cases[i].line);
        assert_int_equal(line_sort(cases[i].number, &line), cases[i].sort);
        assert_int_equal(line.len, cases[i].len);
    }
}

static void test_columns(void **state)
{
    static const char *const names[] = {"dst", "t", "flags"};
    size_t column[3];
    char wide[2 * LINE_COLUMNS + 2] = "#";
    (void)state;
    assert_int_equal(line_columns(piece("# t\t  dst\tother"), names, 3, column), 3);
    assert_int_equal(column[0], 1);
    assert_int_equal(column[1], 0);
    assert_true(column[2] == SIZE_MAX);
    memset(wide + 1, '\t', LINE_COLUMNS - 1);
    assert_int_equal(line_columns(piece(wide), names, 3, column), LINE_COLUMNS);
    memset(wide + 1, '\t', LINE_COLUMNS);
    assert_int_equal(line_columns(piece(wide), names, 3, column), LINE_COLUMNS + 1);
}

/* Counts the files, and refuses one of that name. */
static int read_file(void *ctx, const char *path, size_t number)
{
    size_t *count = ctx;
    assert_int_equal(number, ++*count);
    return strcmp(path, "bad") == 0 ? 2 : 0;
}

static void test_files(void **state)
{
    static const char *const paths[] = {"a", "bad", "c"};
    size_t count = 0;
    (void)state;
    assert_int_equal(lines_files(paths, 3, read_file, &count), 2);
    assert_int_equal(count, 2);
    count = 0;
    assert_int_equal(lines_files(NULL, 0, read_file, &count), 0);
    assert_int_equal(count, 1);
    assert_string_equal(lines_subject("-"), "standard input");
    assert_string_equal(lines_subject("x"), "x");
}

static void test_grow(void **state)
{
    uint32_t *list = NULL;
    size_t room = 0;
    (void)state;
    for (uint32_t i = 0; i < 10000; i++) {
        assert_true(grow(&list, &room, (size_t)i + 1, sizeof *list));
        assert_true(room > i);
        list[i] = i;
    }
    for (uint32_t i = 0; i < 10000; i++) {
        assert_int_equal(list[i], i);
    }
    size_t before = room;
    assert_true(grow(&list, &room, 1, sizeof *list));
    assert_true(room == before);
    free(list);
}

/* The published first numbers of splitmix64 from the state 0. */
static void test_random(void **state)
{
    uint64_t at = 0;
    (void)state;
    assert_true(random_draw(&at) == UINT64_C(0xe220a8397b1dcdaf));
    assert_true(random_draw(&at) == UINT64_C(0x6e789e6aa1b965f4));
    assert_true(random_draw(&at) == UINT64_C(0x06c45d188009454f));
    assert_true(random_unit(0) == 0 && random_unit(UINT64_MAX) < 1);
    assert_true(random_unit(UINT64_C(1) << 63) == 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split),   cmocka_unit_test(test_pieces), cmocka_unit_test(test_sorts),
        cmocka_unit_test(test_columns), cmocka_unit_test(test_files),  cmocka_unit_test(test_grow),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
