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
    if (args->option[OPT_JSON].given) {
        return print_json(out, path, status, &fault) == EXIT_YES ? code : EXIT_TROUBLE;
    }
    if (status != TEPAL_OK) {
        return filter_file_fault(NULL, name, &fault);
    }
    if (!args->option[OPT_QUIET].given) {
        out_text(out, name);
        out_text(out, ": OK\n");
    }
    return code;
}

int verify_run(const struct args *args)
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
