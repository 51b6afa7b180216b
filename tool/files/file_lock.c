/* file_lock.c: open or create FILE.lock, lock it, and see that it is still there. */
#define _DEFAULT_SOURCE
#include "files/file_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "files/leftover.h"

#define ENDING   ".lock"
#define LONGEST  255 /* of a name, on most file systems */
#define PAUSES   100 /* in the first second */
#define PAUSE_NS 10000000

/* Those that this process has taken, the last one first. */
static struct file_lock *taken;

/*
 * Through links, so that two names of one file have one lock; of what is not there yet, its folder.
 * NULL and errno if that fails.
 */
static char *through_links(const char *file)
{
    const char *slash = strrchr(file, '/');
    char *whole = realpath(file, NULL);
    if (whole != NULL || errno != ENOENT || slash == NULL) {
        return whole == NULL && errno == ENOENT ? strdup(file) : whole;
    }
    char *folder = strndup(file, (size_t)(slash + 1 - file));
    char *there = folder == NULL ? NULL : realpath(folder, NULL);
    size_t room = there == NULL ? 0 : strlen(there) + strlen(slash) + 1;
    whole = room == 0 ? NULL : malloc(room);
    if (whole != NULL) {
        snprintf(whole, room, "%s%s", there, slash);
    }
    free(folder);
    free(there);
    return whole;
}

static char *lock_path(const char *whole)
{
    const char *slash = strrchr(whole, '/');
    size_t len = strlen(whole);
    size_t most = (slash == NULL ? 0 : (size_t)(slash + 1 - whole)) + LONGEST + 1 - sizeof ENDING;
    len = len < most ? len : most; /* two such names may share a lock: that is no harm */
    char *path = malloc(len + sizeof ENDING);
    if (path != NULL) {
        snprintf(path, len + sizeof ENDING, "%.*s" ENDING, (int)len, whole);
    }
    return path;
}

/*
 * Whatever is there is opened, or else a new file created: never both in one call, which would
 * follow a link that somebody planted, or be refused in a shared directory.
 */
static int open_lock(const char *path)
{
    int fd;
    do {
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
        if (fd < 0 && errno == ENOENT) {
            fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0660);
        }
    } while (fd < 0 && (errno == EEXIST || errno == EINTR));
    struct stat about;
    int error = fd < 0                    ? errno
                : fstat(fd, &about) != 0  ? errno
                : !S_ISREG(about.st_mode) ? EINVAL
                : about.st_size > 0       ? ENOTEMPTY
                                          : 0;
    if (fd >= 0 && error != 0) {
        close(fd);
        fd = -1;
    }
    errno = error;
    return fd;
}

/* Is what we hold what is there? Whoever had it before has removed it: then ESTALE. 0: it is. */
static int look_again(int fd, const char *path)
{
    struct stat held;
    struct stat now;
    if (fstat(fd, &held) != 0 || lstat(path, &now) != 0) {
        return errno == ENOENT ? ESTALE : errno;
    }
    return held.st_dev == now.st_dev && held.st_ino == now.st_ino ? 0 : ESTALE;
}

static int flock_whole(int fd, int operation)
{
    int result;
    do {
        result = flock(fd, operation);
    } while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
}

/* Waits: for a second without a word, then with one. 0, or what went wrong. */
static int hold(int fd, const struct args *args, const char *file, bool *told)
{
    int error = EWOULDBLOCK;
    for (int i = 0; i < PAUSES && !*told && error == EWOULDBLOCK; i++) {
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
        error = flock_whole(fd, LOCK_EX | LOCK_NB);
    }
    if (error != EWOULDBLOCK) {
        return error;
    }
    if (!*told && !arg(args, "quiet")->given) {
        say_warning(file, "another command is changing this file: waiting for it");
    }
    *told = true;
    return flock_whole(fd, LOCK_EX);
}

static bool has_no_locks(int error)
{
    return error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP;
}

static void forget(struct file_lock *lock)
{
    free(lock->path);
    free(lock->file);
    *lock = (struct file_lock){.path = NULL};
}

static int cannot(struct file_lock *lock, const struct args *args, const char *file, int error)
{
    const char *path = lock->path;
    int code;
    if (path == NULL) {
        code = args_about(args, file, "%s", strerror(error));
    } else if (error == EWOULDBLOCK) {
        code = args_about(args, file, "another command is changing this file");
    } else if (error == ELOOP) {
        code = args_about(args, file, "its lock %s is a symbolic link: remove it", path);
    } else if (error == EINVAL) {
        code = args_about(args, file, "its lock %s is not a regular file", path);
    } else if (error == ENOTEMPTY) {
        code = args_about(args, file,
                          "its lock would be %s, but that has contents: move it, or give the "
                          "filter another name",
                          path);
    } else {
        code = args_about(args, file, "its lock %s cannot be taken: %s", path, strerror(error));
    }
    forget(lock);
    return code;
}

static void remember(struct file_lock *lock)
{
    lock->before = taken;
    taken = lock;
}

/* While it is held: whoever waits looks whether it is there. */
static void remove_held(struct file_lock *lock)
{
    if (look_again(lock->fd, lock->path) == 0) {
        (void)unlink(lock->path);
    }
    close(lock->fd);
    free(lock->path);
    lock->path = NULL;
}

/*
 * Open the lock, take it, and see that it is still there; or wait for another's. A signal finds no
 * lock of ours, or one that is noted. 0, or an error: ESTALE means once more.
 */
static int try_once(struct file_lock *lock, const struct args *args, const char *file, bool wait,
                    bool *told)
{
    sigset_t before;
    leftover_hold(&before);
    lock->fd = open_lock(lock->path);
    int error = lock->fd < 0 ? errno : flock_whole(lock->fd, LOCK_EX | LOCK_NB);
    if (lock->fd >= 0 && error == EWOULDBLOCK && wait) {
        leftover_release(&before);
        error = hold(lock->fd, args, file, told);
        leftover_hold(&before);
    }
    error = error == 0 ? look_again(lock->fd, lock->path) : error;
    if (error == 0) {
        leftover_note(lock->path);
    } else if (lock->fd >= 0 && has_no_locks(error)) {
        remove_held(lock);
    } else if (lock->fd >= 0) {
        close(lock->fd);
    }
    leftover_release(&before);
    return error;
}

int file_lock_take(struct file_lock *lock, const struct args *args, const char *file,
                   enum file_lock_patience patience)
{
    bool wait = patience == FILE_LOCK_WAIT && !arg(args, "no-wait")->given;
    bool told = false;
    *lock = (struct file_lock){.name = file};
    if (file == NULL || strcmp(file, "-") == 0) {
        return EXIT_YES;
    }
    lock->file = through_links(file);
    lock->path = lock->file == NULL ? NULL : lock_path(lock->file);
    int error = lock->path == NULL ? errno : ESTALE;
    while (error == ESTALE) {
        error = try_once(lock, args, file, wait, &told);
        if (lock->fd < 0) {
            break;
        }
    }
    bool without = lock->path == NULL && lock->fd >= 0 && has_no_locks(error);
    if (error != 0 && !without) {
        return cannot(lock, args, file, error);
    }
    if (without && !arg(args, "quiet")->given) {
        say_warning(file,
                    "cannot be locked (%s): make sure that no other command changes it meanwhile",
                    strerror(error));
    }
    remember(lock);
    return EXIT_YES;
}

const char *file_lock_place(const char *name)
{
    for (const struct file_lock *lock = taken; lock != NULL; lock = lock->before) {
        if (strcmp(lock->name, name) == 0) {
            return lock->file;
        }
    }
    return name;
}

void file_lock_drop(struct file_lock *lock)
{
    if (lock->file == NULL) {
        return;
    }
    for (struct file_lock **at = &taken; *at != NULL; at = &(*at)->before) {
        if (*at == lock) {
            *at = lock->before;
            break;
        }
    }
    if (lock->path != NULL) {
        sigset_t before;
        leftover_hold(&before);
        leftover_forget(lock->path);
        remove_held(lock);
        leftover_release(&before);
    }
    forget(lock);
}
