/*
 * help.c: the commands as text for the terminal and as a manual page in roff. No sentence about an
 * option is written here: it stands beside the option.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <tepal/base.h>

#include "cli/command.h"
#include "output/out.h"

#define COLUMNS 80
#define INDENT  24 /* of the words about an option */

static const char tagline[] = "approximate sets with two error rates that you choose";

/* ---- plain text ------------------------------------------------------------------------------ */

static void spaces(struct out *out, size_t count)
{
    out_format(out, "%*s", (int)count, "");
}

/* A paragraph from column `at` on, broken at spaces; later lines start at `indent`. */
static void wrap(struct out *out, const char *text, size_t at, size_t indent)
{
    size_t column = at;
    bool first = true;
    while (*text != '\0') {
        size_t len = strcspn(text, " ");
        if (!first && column + 1 + len > COLUMNS) {
            out_text(out, "\n");
            spaces(out, indent);
            column = indent;
        } else if (!first) {
            out_text(out, " ");
            column++;
        }
        out_bytes(out, text, len);
        column += len;
        text += len;
        text += strspn(text, " ");
        first = false;
    }
    out_text(out, "\n");
}

/* Calls `each` with every paragraph of a text that has empty lines between them. */
static void paragraphs(struct out *out, const char *text,
                       void (*each)(struct out *, const char *, bool))
{
    char room[1024];
    bool first = true;
    while (*text != '\0') {
        const char *end = strstr(text, "\n\n");
        size_t len = end == NULL ? strlen(text) : (size_t)(end - text);
        snprintf(room, sizeof room, "%.*s", (int)len, text);
        each(out, room, first);
        first = false;
        text += len + (end == NULL ? 0 : 2);
    }
}

static void plain_paragraph(struct out *out, const char *text, bool first)
{
    (void)first;
    wrap(out, text, 0, 0);
    out_text(out, "\n");
}

static void option_head(const struct option *o, char *room, size_t size)
{
    char letter[8] = "    ";
    if (o->letter != 0) {
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    }
    snprintf(room, size, "  %s--%s%s%s", letter, o->name, o->value != NULL ? " " : "",
             o->value != NULL ? o->value : "");
}

static void print_option(struct out *out, const struct option *o)
{
    char head[64];
    option_head(o, head, sizeof head);
    size_t used = strlen(head);
    out_text(out, head);
    if (used + 2 > INDENT) {
        out_text(out, "\n");
        used = 0;
    }
    spaces(out, INDENT - used);
    wrap(out, o->about, INDENT, INDENT);
}

static void print_command(struct out *out, const struct command *c)
{
    char head[128];
    snprintf(head, sizeof head, "Usage: tepal %s ", c->name);
    out_text(out, head);
    wrap(out, c->synopsis, strlen(head), strlen(head));
    out_format(out, "\n%s\n\n", c->summary);
    paragraphs(out, c->about, plain_paragraph);
    out_text(out, "Options:\n");
    for (const struct option *o = c->options; o->name != NULL; o++) {
        print_option(out, o);
    }
    out_text(out, "\nExamples:\n");
    for (const struct example *e = c->examples; e->line != NULL; e++) {
        out_format(out, "  %s\n      %s\n", e->line, e->about);
    }
}

static void print_overview(const struct program *program, struct out *out)
{
    out_format(out, "tepal %s: %s\n\n", tepal_version(), tagline);
    out_text(out, "Usage: tepal COMMAND [OPTIONS] [FILES]\n\nCommands:\n");
    for (const struct command *const *c = program->commands; *c != NULL; c++) {
        out_format(out, "  %-12s %s\n", (*c)->name, (*c)->summary);
    }
    out_text(out, "\n'tepal COMMAND --help' explains a command, with examples.\nExit status: 0 "
                  "success or yes, 1 no (such as no key found), 2 error.\n");
}

int help_overview(const struct program *program, bool wrong)
{
    struct out *out = out_open(wrong ? STDERR_FILENO : STDOUT_FILENO);
    if (out == NULL) {
        return EXIT_TROUBLE;
    }
    print_overview(program, out);
    return out_close(out, wrong ? EXIT_TROUBLE : EXIT_YES);
}

int help_command(const struct command *command)
{
    struct out *out = out_open(STDOUT_FILENO);
    if (out == NULL) {
        return EXIT_TROUBLE;
    }
    print_command(out, command);
    return out_close(out, EXIT_YES);
}

/* ---- the manual page ------------------------------------------------------------------------- */

/* Text with what roff would take for its own escaped. */
static void roff(struct out *out, const char *text)
{
    static const char special[] = "-\\'`~^";
    static const char *const by[] = {"\\-", "\\e", "\\(aq", "\\(ga", "\\(ti", "\\(ha"};
    if (*text == '.' || *text == '\'') {
        out_text(out, "\\&");
    }
    for (; *text != '\0'; text++) {
        const char *found = strchr(special, *text);
        if (found != NULL) {
            out_text(out, by[found - special]);
        } else {
            out_bytes(out, text, 1);
        }
    }
}

static void roff_paragraph(struct out *out, const char *text, bool first)
{
    out_text(out, first ? "" : ".PP\n");
    roff(out, text);
    out_text(out, "\n");
}

static void roff_option(struct out *out, const struct option *o)
{
    char name[64];
    out_text(out, ".TP\n");
    if (o->letter != 0) {
        snprintf(name, sizeof name, "-%c", o->letter);
        out_text(out, "\\fB");
        roff(out, name);
        out_text(out, "\\fR, ");
    }
    snprintf(name, sizeof name, "--%s", o->name);
    out_text(out, "\\fB");
    roff(out, name);
    out_text(out, "\\fR");
    if (o->value != NULL) {
        out_format(out, " \\fI%s\\fR", o->value);
    }
    out_text(out, "\n");
    roff(out, o->about);
    out_text(out, "\n");
}

static void roff_command(struct out *out, const struct command *c)
{
    out_format(out, ".SS %s\n\\fBtepal %s\\fR ", c->name, c->name);
    roff(out, c->synopsis);
    out_text(out, "\n.PP\n");
    roff(out, c->summary);
    out_text(out, "\n");
    paragraphs(out, c->about, roff_paragraph);
    for (const struct option *o = c->options; o->name != NULL; o++) {
        roff_option(out, o);
    }
    for (const struct example *e = c->examples; e->line != NULL; e++) {
        out_text(out, ".PP\n");
        roff(out, e->about);
        out_text(out, "\n.RS 4\n.nf\n");
        roff(out, e->line);
        out_text(out, "\n.fi\n.RE\n");
    }
}

static void print_manual(const struct program *program, struct out *out)
{
    static const char tail[] =
        ".SH NUMBERS\nSizes may carry a suffix: k, M, G, T, P (powers of 1000) or Ki, Mi, Gi, Ti, "
        "Pi (powers of 1024). Rates are written 1%, 0.01, 1e\\-2 or 1/100.\n.SH EXIT STATUS\n.TP\n"
        "0\nsuccess, or yes\n.TP\n1\nno: for example, no key was found\n.TP\n2\nan error, reported "
        "in one line on standard error\n.SH ENVIRONMENT\n.TP\n.B TMPDIR\ndirectory for digests "
        "that do not fit into memory (default /tmp)\n.TP\n.B NO_COLOR\nif not empty, messages are "
        "not coloured\n.TP\n.B TEPAL_PROGRESS\nif 1, long jobs say how far they are at once and "
        "wherever standard error goes (else: on a terminal, after a second)\n";
    out_format(out, ".TH TEPAL 1 \"\" \"tepal %s\" \"User Commands\"\n", tepal_version());
    out_format(out, ".SH NAME\ntepal \\- %s\n", tagline);
    out_text(out, ".SH SYNOPSIS\n.B tepal\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIFILES\\fR]\n");
    out_text(out, ".SH DESCRIPTION\nA filter is a compact representation of a set: with a few bits "
                  "per key it answers \"perhaps\" or \"certainly not\" to the question whether a "
                  "key is a member. Keys are read from files or standard input, one per line. Data "
                  "goes to standard output, messages to standard error.\n");
    out_text(out, ".SH COMMANDS\n");
    const struct command *c;
    for (size_t i = 0; (c = command_at(program, i)) != NULL; i++) {
        roff_command(out, c);
    }
    out_text(out, tail);
}

int help_manual(const struct program *program)
{
    struct out *out = out_open(STDOUT_FILENO);
    if (out == NULL) {
        return EXIT_TROUBLE;
    }
    print_manual(program, out);
    return out_close(out, EXIT_YES);
}
