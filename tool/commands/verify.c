/* verify.c: is the file what was written? Every checksum, every invariant. */
#include <string.h>

#include <tepal/filter.h>

#include "cli/command.h"
#include "output/report.h"
#include "files/filter_file.h"
#include "cli/options.h"

static enum tepal_status check(const char *path, struct tepal_error *error)
{
    struct tepal_filter *filter;
    enum tepal_status status = filter_file_try(path, FILTER_FILE_VIEW, &filter, error);
    if (status != TEPAL_OK) {
        return status;
    }
    status = tepal_filter_validate(filter, error);
    tepal_filter_free(filter);
    return status;
}

static void tell(struct report *r, const char *path, enum tepal_status status,
                 const struct tepal_error *error)
{
    bool ok = status == TEPAL_OK;
    report_object(r, NULL);
    report_text(r, "file", path, JSON_ONLY);
    report_flag(r, "ok", ok, JSON_ONLY);
    report_text(r, "status", tepal_status_name(status), JSON_ONLY);
    if (!ok) {
        report_whole(r, "offset", error->offset, JSON_ONLY);
        report_text(r, "why", error->why != NULL ? error->why : strerror(error->system), JSON_ONLY);
    } else if (!r->quiet) {
        report_name(r, filter_file_name(path, false));
        report_line(r, ": OK\n");
    }
    report_end(r);
}

static int verify_one(struct report *r, const char *path)
{
    struct tepal_error error = {.status = TEPAL_OK, .why = ""};
    enum tepal_status status = check(path, &error);
    tell(r, path, status, &error);
    if (status != TEPAL_OK && report_is(r, REPORT_TEXT)) {
        filter_file_fault(NULL, filter_file_name(path, false), &error);
    }
    return status == TEPAL_OK ? EXIT_YES : EXIT_TROUBLE;
}

static int verify_run(const struct args *args)
{
    struct report r = report_open(args);
    int code = EXIT_YES;
    for (size_t i = 0; i < args->operands; i++) {
        if (verify_one(&r, args->operand[i]) != EXIT_YES) {
            code = EXIT_TROUBLE;
        }
    }
    return report_close(&r, code);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {OPTION_JSON, OPTION_QUIET, OPTION_HELP, OPTIONS_END};
static const struct example examples[] = {
    {"tepal verify *.tepal", "Check every checksum and every invariant."}, {NULL, NULL}};

const struct command command_verify = {
    .name = "verify",
    .synopsis = "FILE... [--json]",
    .summary = "Check filters for damage.",
    .about = "Reads each filter completely and checks lengths, checksums and invariants. Exit "
             "status 2 if one of them is damaged.",
    .options = options,
    .files = true,
    .least_operands = 1,
    .most_operands = SIZE_MAX,
    .operand_name = "a filter is",
    .examples = examples,
    .run = verify_run};
