/* verify.c: is the file what was written? Every checksum, every invariant. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <unistd.h>

#include <tepal/filter.h>

#include "cli/command.h"
#include "output/out.h"
#include "output/render.h"
#include "cli/say.h"
#include "files/filter_file.h"
#include "cli/options.h"

static enum tepal_status check(const char *path, struct tepal_fault *fault)
{
    struct tepal_filter *filter;
    enum tepal_status status = filter_file_try(path, FILTER_FILE_VIEW, &filter, fault);
    if (status != TEPAL_OK) {
        return status;
    }
    const char *why = "";
    status = tepal_validate(filter, &why);
    if (status != TEPAL_OK) {
        *fault = (struct tepal_fault){.status = status, .why = why};
    }
    tepal_filter_free(filter);
    return status;
}

static int print_json(struct out *out, const char *path, enum tepal_status status,
                      const struct tepal_fault *fault)
{
    bool ok = status == TEPAL_OK;
    json_t *object = json_object();
    json_object_set_new(object, "file", render_string(path));
    json_object_set_new(object, "ok", json_boolean(ok));
    json_object_set_new(object, "status", json_string(tepal_status_name(status)));
    if (!ok) {
        const char *why = fault->why != NULL ? fault->why : strerror(fault->system);
        json_object_set_new(object, "offset", json_integer((json_int_t)fault->offset));
        json_object_set_new(object, "why", render_string(why));
    }
    return render_json(out, object);
}

static int verify_one(const struct args *args, struct out *out, const char *path)
{
    struct tepal_fault fault = {.status = TEPAL_OK, .why = ""};
    const char *name = filter_file_name(path, false);
    enum tepal_status status = check(path, &fault);
    int code = status == TEPAL_OK ? EXIT_YES : EXIT_TROUBLE;
    if (arg(args, "json")->given) {
        return print_json(out, path, status, &fault) == EXIT_YES ? code : EXIT_TROUBLE;
    }
    if (status != TEPAL_OK) {
        return filter_file_fault(NULL, name, &fault);
    }
    if (!arg(args, "quiet")->given) {
        out_text(out, name);
        out_text(out, ": OK\n");
    }
    return code;
}

static int verify_run(const struct args *args)
{
    struct out *out = out_open(STDOUT_FILENO);
    int code = EXIT_YES;
    if (out == NULL) {
        return EXIT_TROUBLE;
    }
    for (size_t i = 0; i < args->operands; i++) {
        if (verify_one(args, out, args->operand[i]) != EXIT_YES) {
            code = EXIT_TROUBLE;
        }
    }
    return out_close(out, code);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option *const options[] = {&option_json, &option_quiet, &option_help, NULL};
static const struct example examples[] = {
    {"tepal verify *.tepal", "Check every checksum and every invariant."}, {NULL, NULL}};

const struct command command_verify = {
    .name = "verify",
    .synopsis = "FILE... [--json]",
    .summary = "Check filters for damage.",
    .about = "Reads each filter completely and checks lengths, checksums and invariants. Exit "
             "status 2 if one of them is not sound.",
    .options = options,
    .files = true,
    .least_operands = 1,
    .most_operands = SIZE_MAX,
    .operand_name = "a filter is",
    .examples = examples,
    .run = verify_run};
