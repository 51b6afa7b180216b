/*
 * report_unit.c: one report, told once, in its three forms: text, JSON and TSV.
 */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/options.h"
#include "output/report.h"

static const struct option options[] = {OPTION_JSON, OPTION_ROWS_TSV, OPTIONS_END};
static const struct command command = {.name = "tells", .options = options};

static void tell_row(struct report *r, const char *kind, double fp, double seen)
{
    report_object(r, NULL);
    report_text(r, "kind", kind, column("kind", -6, NULL));
    report_whole(r, "bits", 64, JSON_ONLY);
    report_whole(r, "seed", 7, NO_TEXT);
    report_real(r, "fp", fp, column_tsv(column("fp", 8, "%.1f %%"), "%.3f"));
    report_real(r, "seen", seen, column_or(column("seen", 6, "%.3g"), "never"));
    report_whole_if(r, "memory", isfinite(seen), 12, column("memory", 6, NULL));
    report_flag(r, NULL, kind[0] == 'b', text_column("first", 5, NULL));
    report_real(r, "more", fp / 2, TSV_ONLY);
}

static void tell(struct report *r, size_t rows)
{
    report_object(r, NULL);
    report_whole(r, "lines", UINT64_MAX, JSON_ONLY);
    report_line(r, "%d lines\n", 3);
    report_list(r, "rows");
    for (size_t i = 0; i < rows; i++) {
        tell_row(r, i == 0 ? "bloom" : "other", 0.125, i == 0 ? 1.0 / 3 : NAN);
        report_end(r);
    }
    report_end(r);
    report_object(r, "sub");
    report_real(r, "zero", -0.0, JSON_ONLY);
    report_end(r);
    report_end(r);
}

/* What is printed with the option of that number, or with none. */
static char *printed(size_t option, size_t rows, char *room, size_t size)
{
    struct option_value values[2] = {{.given = option == 0}, {.given = option == 1}};
    struct args args = {.command = &command, .values = values};
    int fd = memfd_create("report", 0);
    assert_true(fd >= 0);
    struct report r = report_on(out_open(fd), &args);
    tell(&r, rows);
    if (rows == 0 && report_is(&r, REPORT_TSV)) {
        tell_row(&r, "", 0, 0);
        report_headings(&r);
    }
    assert_int_equal(report_close(&r, EXIT_NO), EXIT_NO);
    ssize_t len = pread(fd, room, size - 1, 0);
    assert_true(len >= 0);
    room[len] = '\0';
    close(fd);
    return room;
}

static void three_forms_of_one_report(void **state)
{
    char room[4096];
    (void)state;
    assert_string_equal(printed(2, 2, room, sizeof room), "3 lines\n"
                                                          "kind         fp   seen memory first\n"
                                                          "bloom    12.5 %  0.333     12   yes\n"
                                                          "other    12.5 %  never      -    no\n");
    assert_string_equal(printed(1, 2, room, sizeof room), "kind\tseed\tfp\tseen\tmemory\tmore\n"
                                                          "bloom\t7\t0.125\t0.333333\t12\t0.0625\n"
                                                          "other\t7\t0.125\t\t\t0.0625\n");
    assert_string_equal(printed(0, 2, room, sizeof room),
                        "{\"lines\": \"18446744073709551615\", \"rows\": [{\"kind\": \"bloom\", "
                        "\"bits\": 64, \"seed\": \"7\", \"fp\": 0.125, "
                        "\"seen\": 0.333333333333333, \"memory\": 12}, "
                        "{\"kind\": \"other\", \"bits\": 64, \"seed\": \"7\", \"fp\": 0.125, "
                        "\"seen\": null, \"memory\": null}], \"sub\": {\"zero\": 0.0}}\n");
}

static void a_table_may_be_empty(void **state)
{
    char room[4096];
    (void)state;
    assert_string_equal(printed(2, 0, room, sizeof room), "3 lines\n");
    assert_string_equal(printed(1, 0, room, sizeof room), "kind\tseed\tfp\tseen\tmemory\tmore\n");
    assert_string_equal(
        printed(0, 0, room, sizeof room),
        "{\"lines\": \"18446744073709551615\", \"rows\": [], \"sub\": {\"zero\": 0.0}}\n");
}

static void without_an_output_it_is_trouble(void **state)
{
    struct option_value values[2] = {{.given = true}};
    struct args args = {.command = &command, .values = values};
    (void)state;
    struct report r = report_on(NULL, &args);
    tell(&r, 2);
    assert_int_equal(report_close(&r, EXIT_YES), EXIT_TROUBLE);
    values[0].given = false;
    r = report_on(NULL, &args);
    tell(&r, 2);
    assert_int_equal(report_close(&r, EXIT_YES), EXIT_TROUBLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_forms_of_one_report),
        cmocka_unit_test(a_table_may_be_empty),
        cmocka_unit_test(without_an_output_it_is_trouble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
