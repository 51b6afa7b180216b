/* late.c: dlopen and dlsym. What was loaded stays until the process ends. */
#define _POSIX_C_SOURCE 200809L
#include "system/late.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

bool late_load(const char *const *files, const char *const *names, size_t count, void *calls)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    void *call;
    char *last = (char *)calls + (count - 1) * sizeof call;
    pthread_mutex_lock(&lock);
    memcpy(&call, last, sizeof call); /* it was found if all were */
    for (; *files != NULL && call == NULL; files++) {
        void *library = dlopen(*files, RTLD_NOW | RTLD_LOCAL);
        call = library;
        for (size_t i = 0; i < count && call != NULL; i++) {
            /* A function's address as an object's: POSIX lets dlsym return both, C does not. */
            call = dlsym(library, names[i]);
            memcpy((char *)calls + i * sizeof call, &call, sizeof call);
        }
    }
    pthread_mutex_unlock(&lock);
    return call != NULL;
}
