/* networks.c: files, the networks in them, and folders of files. */
#define _POSIX_C_SOURCE 200809L
#include "route/networks.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/say.h"
#include "readers/graph.h"
#include "shared/grow.h"

static const char *const endings[] = {".graphml", ".xml", ".tsv"};

/* The length of a name without .gz or .zst; *whole: without the ending too, or 0 if it has none. */
static size_t bare_name(const char *name, size_t *whole)
{
    size_t len = strlen(name);
    len -= len > 3 && strcmp(name + len - 3, ".gz") == 0    ? 3
           : len > 4 && strcmp(name + len - 4, ".zst") == 0 ? 4
                                                            : 0;
    *whole = 0;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t of = strlen(endings[i]);
        if (len > of && memcmp(name + len - of, endings[i], of) == 0) {
            *whole = len - of;
        }
    }
    return len;
}

/* Takes over nothing; copies. */
static bool add(struct networks *all, const char *path, const char *network)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash == NULL ? path : slash + 1;
    size_t whole;
    size_t len = bare_name(file, &whole);
    if (!grow(&all->network, &all->room, all->count + 1, sizeof *all->network)) {
        return false;
    }
    struct network *p = &all->network[all->count++];
    size_t room = strlen(file) + (network == NULL ? 0 : strlen(network)) + 2;
    p->path = strdup(path);
    p->part = network == NULL ? NULL : strdup(network);
    p->name = malloc(room);
    if (p->path == NULL || p->name == NULL || (network != NULL && p->part == NULL)) {
        return false;
    }
    snprintf(p->name, room, "%.*s%s%s", (int)(whole > 0 ? whole : len), file,
             network == NULL ? "" : ":", network == NULL ? "" : network);
    return true;
}

/* A file: itself, or the networks in it. */
static int add_file(struct networks *all, const char *path)
{
    const char *wanted = args_text(all->args, "network", 0);
    struct names names = {.count = 0};
    int code = EXIT_YES;
    bool good = true;
    if (wanted == NULL && strcmp(path, "-") != 0) {
        code = graph_networks(&names, path);
    }
    if (code == EXIT_YES && names.count > 1) {
        for (uint32_t i = 0; i < names.count && good; i++) {
            good = add(all, path, names_text(&names, i));
        }
    } else if (code == EXIT_YES) {
        good = add(all, path, wanted);
    }
    names_free(&names);
    return good ? code : say_no_memory();
}

static int is_network(const struct dirent *entry)
{
    size_t whole;
    bare_name(entry->d_name, &whole);
    return entry->d_name[0] != '.' && whole > 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int add_folder(struct networks *all, const char *folder)
{
    struct dirent **entry = NULL;
    int count = scandir(folder, &entry, is_network, by_name);
    int code = EXIT_YES;
    if (count < 0) {
        return say_error(NULL, folder, "%s", strerror(errno));
    }
    if (count == 0) {
        code = say_error(NULL, folder,
                         "it contains no networks: no file name ends in .graphml, .xml or .tsv");
    }
    for (int i = 0; i < count; i++) {
        size_t room = strlen(folder) + strlen(entry[i]->d_name) + 2;
        char *path = malloc(room);
        if (path == NULL) {
            code = say_no_memory();
        } else if (code == EXIT_YES) {
            snprintf(path, room, "%s/%s", folder, entry[i]->d_name);
            code = add_file(all, path);
        }
        free(path);
        free(entry[i]);
    }
    free(entry);
    return code;
}

int networks_find(struct networks *all, const struct args *args)
{
    int code = EXIT_YES;
    all->args = args;
    for (size_t i = 0; i < args->operands && code == EXIT_YES; i++) {
        struct stat about;
        const char *path = args->operand[i];
        bool folder = strcmp(path, "-") != 0 && stat(path, &about) == 0 && S_ISDIR(about.st_mode);
        code = folder ? add_folder(all, path) : add_file(all, path);
    }
    return code;
}

void networks_free(struct networks *all)
{
    for (size_t i = 0; i < all->count; i++) {
        free(all->network[i].path);
        free(all->network[i].part);
        free(all->network[i].name);
    }
    free(all->network);
}
