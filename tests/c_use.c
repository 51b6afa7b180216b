/*
 * c_use.c: the library in memory alone, as a project without files uses it: make a filter, encode
 * it, decode it, query it. install.sh builds it with the installed library and inside another
 * project.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tepal/tepal.h>

int main(void)
{
    struct tepal_filter *made = NULL;
    struct tepal_filter *copy = NULL;
    if (tepal_filter_create_for_rate(TEPAL_KIND_BLOOM, 1000, 0.01, 7, &made, NULL) != TEPAL_OK) {
        return 1;
    }
    bool good = tepal_filter_add_bytes(made, "anemone", 7) == TEPAL_OK;
    size_t room = (size_t)tepal_encoded_bytes(made);
    void *bytes = malloc(room);
    good = good && bytes != NULL && tepal_encode(made, bytes, room, NULL) == TEPAL_OK &&
           tepal_decode(bytes, room, NULL, &copy, NULL) == TEPAL_OK &&
           tepal_filter_query_bytes(copy, "anemone", 7) &&
           !tepal_filter_query_bytes(copy, "basalt", 6);
    printf("%s, version %s\n", good ? "good" : "bad", tepal_version());
    tepal_filter_free(copy);
    tepal_filter_free(made);
    free(bytes);
    return good ? 0 : 1;
}
