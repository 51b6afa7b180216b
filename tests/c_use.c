/*
 * c_use.c: the library in memory alone, as a project without files uses it: make a filter, encode
 * it, decode it, ask. install.sh builds it with the installed library and inside another project.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tepal/tepal.h>

int main(void)
{
    struct tepal_bloom *made = NULL;
    struct tepal_filter *copy = NULL;
    if (tepal_bloom_create_for_rate(1000, 0.01, 7, &made) != TEPAL_OK) {
        return 1;
    }
    bool good = tepal_bloom_add_bytes(made, "anemone", 7) == TEPAL_OK;
    size_t room = (size_t)tepal_encoded_bytes(tepal_bloom_filter(made));
    void *bytes = malloc(room);
    good = good && bytes != NULL &&
           tepal_encode(tepal_bloom_filter(made), bytes, room) == TEPAL_OK &&
           tepal_decode(bytes, room, NULL, &copy, NULL) == TEPAL_OK;
    bool member = false;
    bool stranger = true;
    good = good &&
           tepal_bloom_query_bytes(tepal_filter_bloom(copy), "anemone", 7, &member) == TEPAL_OK &&
           tepal_bloom_query_bytes(tepal_filter_bloom(copy), "basalt", 6, &stranger) == TEPAL_OK;
    printf("%s, version %s\n", good && member && !stranger ? "good" : "bad", tepal_version());
    tepal_filter_free(copy);
    tepal_bloom_free(made);
    free(bytes);
    return good && member && !stranger ? 0 : 1;
}
