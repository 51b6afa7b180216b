/*
 * load.c: load a filter of any kind from a file and look up a string in it.
 *
 *     cc load.c $(pkg-config --cflags --libs tepal) -o load
 *     ./load words.tepal begonia
 */
#include <stdio.h>
#include <string.h>
#include <tepal/tepal.h>

int main(int argc, char **argv)
{
    struct tepal_filter *filter;
    struct tepal_error error;
    if (argc != 3) {
        fprintf(stderr, "usage: load FILE KEY\n");
        return 2;
    }
    if (tepal_load(argv[1], NULL, &filter, &error)) {
        fprintf(stderr, "%s: %s\n", argv[1], error.why);
        return 2;
    }
    bool maybe = tepal_filter_query_bytes(filter, argv[2], strlen(argv[2]));
    printf("%s: %s\n", argv[2], maybe ? "perhaps" : "certainly not");
    tepal_filter_free(filter);
    return maybe ? 0 : 1;
}
