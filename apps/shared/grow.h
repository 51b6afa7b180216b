/* grow.h: arrays that grow as they are filled. */
#ifndef APPS_SHARED_GROW_H
#define APPS_SHARED_GROW_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * Makes room for `needed` elements of `size` bytes in the array whose pointer is at `array`, twice
 * as many if there were too few. False: no memory, and all is as it was.
 */
static inline bool grow(void *array, size_t *room, size_t needed, size_t size)
{
    void *old;
    if (needed <= *room) {
        return true;
    }
    size_t larger = needed < 32 ? 64 : 2 * needed;
    memcpy(&old, array, sizeof old);
    void *moved = realloc(old, larger * size);
    if (moved == NULL) {
        return false;
    }
    memcpy(array, &moved, sizeof moved);
    *room = larger;
    return true;
}

#endif
