/*
 * files.c: what `tepal app route` writes besides its report. Whatever can be refused is refused
 * before anything is computed; files take their names once all went well.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/options.h"
#include "files/filter_file.h"
#include "files/sides.h"
#include "route/route.h"
#include "route/tables.h"

/* ---- headers and tables ---------------------------------------------------------------------- */

int route_open_headers(struct route_job *job)
{
    struct route_app *app = job->app;
    if (!arg(app->args, "headers")->given) {
        return EXIT_YES;
    }
    struct atomic_file *file = &app->file[ROUTE_HEADERS];
    int code = atomic_file_open(file, app->args, arg(app->args, "headers")->text);
    if (code == EXIT_YES) {
        tables_print_head(file->out);
    }
    return code;
}

/* The headers of the path at hand. */
void route_print_headers(const struct route_job *job)
{
    struct out *out = job->app->file[ROUTE_HEADERS].out;
    if (out != NULL) {
        struct tepal_header_layout layout;
        (void)tepal_header_layout_init(&job->setting.params[PACKET_YESNO], &layout, NULL);
        tables_print_headers(out, &job->plan, &job->parts, &layout);
    }
}

static void print_tables(const void *context, struct out *out, bool c)
{
    const struct route_job *job = context;
    struct tepal_params params = job->setting.params[PACKET_YESNO];
    params.seed = job->app->seed;
    (c ? tables_print_c : tables_print)(out, job->walker, &job->graph, &params,
                                        job->setting.how.salts);
}

static void write_text(const void *context, struct out *out)
{
    print_tables(context, out, false);
}

static void write_c(const void *context, struct out *out)
{
    print_tables(context, out, true);
}

int route_write_tables(struct route_job *job)
{
    struct route_app *app = job->app;
    const struct side text = {"tables", write_text, job};
    const struct side c = {"c", write_c, job};
    int code = sides_prepare(app->args, &text, &app->file[ROUTE_TABLES]);
    return code == EXIT_YES ? sides_prepare(app->args, &c, &app->file[ROUTE_C]) : code;
}

/* ---- pictures -------------------------------------------------------------------------------- */

int route_draw(struct route_job *job)
{
    struct route_app *app = job->app;
    char title[3 * GRAPH_NAME_ROOM + 64];
    char to[GRAPH_NAME_ROOM + 8];
    char room[GRAPH_NAME_ROOM];
    if (!arg(app->args, "svg")->given) {
        return EXIT_YES;
    }
    if (job->plan.to_count == 1) {
        snprintf(to, sizeof to, " to %.200s", graph_name(&job->graph, job->plan.to[0], room));
    } else {
        snprintf(to, sizeof to, " to %zu nodes", (size_t)job->plan.to_count);
    }
    snprintf(title, sizeof title, "%.200s: %s%" PRIu32 " link%s from %.200s%s", job->name,
             app->many ? "the worst path, " : "", job->plan.members, SAY_S(job->plan.members),
             graph_name(&job->graph, job->plan.root, room), to);
    struct atomic_file *file = &app->file[ROUTE_SVG];
    int code = atomic_file_open(file, app->args, arg(app->args, "svg")->text);
    if (code == EXIT_YES && !draw_network(file->out, &job->plan, title, job->use)) {
        code = say_no_memory();
    }
    return code == EXIT_YES ? atomic_file_finish(file, app->args) : code;
}

#define FIRST_FIGURE 16
#define LAST_FIGURE  18

/* FOLDER/figNN.ENDING, on the heap. */
static char *figure_path(const struct route_app *app, int figure, const char *ending)
{
    const char *folder = arg(app->args, "figures")->text;
    size_t room = strlen(folder) + 32;
    char *path = malloc(room);
    if (path != NULL) {
        snprintf(path, room, "%s/fig%d.%s", folder, figure, ending);
    }
    return path;
}

static int write_figure(struct route_app *app, int figure, bool table)
{
    int n = 2 * (figure - FIRST_FIGURE) + !table;
    struct atomic_file *file = &app->file[ROUTE_FIGURES + n];
    app->figure[n] = figure_path(app, figure, table ? "tsv" : "svg");
    int code = app->figure[n] == NULL ? say_no_memory()
                                      : atomic_file_open(file, app->args, app->figure[n]);
    if (code == EXIT_YES) {
        bool good = table ? draw_table(file->out, figure, app->row, app->rows)
                          : draw_figure(file->out, figure, app->row, app->rows);
        code = good ? atomic_file_finish(file, app->args) : say_no_memory();
    }
    return code;
}

int route_check_files(const struct route_app *app)
{
    static const char *const files[] = {"svg", "headers", "tables", "c"};
    const struct option_value *figures = arg(app->args, "figures");
    int code = EXIT_YES;
    for (size_t i = 0; i < sizeof files / sizeof *files && code == EXIT_YES; i++) {
        const struct option_value *file = arg(app->args, files[i]);
        code = file->given ? atomic_file_check(app->args, file->text) : EXIT_YES;
    }
    if (figures->given && code == EXIT_YES && mkdir(figures->text, 0777) != 0 && errno != EEXIST) {
        code = say_error(NULL, figures->text, "%s", strerror(errno));
    }
    for (int figure = FIRST_FIGURE; figure <= LAST_FIGURE && figures->given && code == EXIT_YES;
         figure++) {
        for (int table = 0; table < 2 && code == EXIT_YES; table++) {
            char *path = figure_path(app, figure, table == 1 ? "tsv" : "svg");
            code = path == NULL ? say_no_memory() : atomic_file_check(app->args, path);
            free(path);
        }
    }
    return code;
}

static int write_figures(struct route_app *app)
{
    int code = EXIT_YES;
    for (int figure = FIRST_FIGURE; figure <= LAST_FIGURE && code == EXIT_YES; figure++) {
        code = write_figure(app, figure, true);
        code = code == EXIT_YES ? write_figure(app, figure, false) : code;
    }
    return code;
}

/* ---- their names ----------------------------------------------------------------------------- */

int route_commit(struct route_app *app)
{
    struct atomic_file *each[ROUTE_FILES];
    struct atomic_file *headers = &app->file[ROUTE_HEADERS];
    int code = headers->out != NULL ? atomic_file_finish(headers, app->args) : EXIT_YES;
    if (code == EXIT_YES && arg(app->args, "figures")->given) {
        code = write_figures(app);
    }
    for (size_t i = 0; i < ROUTE_FILES; i++) {
        each[i] = &app->file[i];
    }
    return code == EXIT_YES ? filter_file_save_with(app->args, NULL, NULL, each, ROUTE_FILES)
                            : code;
}

void route_drop_files(struct route_app *app)
{
    for (size_t i = 0; i < ROUTE_FILES; i++) {
        atomic_file_free(&app->file[i]);
    }
    for (size_t i = 0; i < ROUTE_FILES - ROUTE_FIGURES; i++) {
        free(app->figure[i]);
    }
}
