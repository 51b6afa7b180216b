/*
 * file_lock.h: one command at a time changes a file. The lock is a file of its own, FILE.lock,
 * beside FILE (after symbolic links), held with flock(2): FILE itself is replaced by every save and
 * may not be there yet. Every command that writes a filter takes it: before it reads what it will
 * replace, or, if it reads nothing of it, just to write. Commands that only read never wait.
 *
 * FILE.lock goes when the lock is dropped. If a command was killed it stays, and means nothing. A
 * file of that name that has contents is somebody else's, and stays.
 */
#ifndef TOOL_FILES_FILE_LOCK_H
#define TOOL_FILES_FILE_LOCK_H

#include "cli/command.h"

/* All zeros: nothing is held. It stays where it is from file_lock_take to file_lock_drop. */
struct file_lock {
    const char *name; /* of the file, as the command calls it */
    char *file;       /* the same after symbolic links, when the lock was taken; NULL: no file */
    char *path;       /* of the lock; NULL: nothing is held */
    int fd;
    struct file_lock *before; /* that this process took */
};

enum file_lock_patience {
    FILE_LOCK_WAIT,  /* and say so after a second; with --no-wait, refuse */
    FILE_LOCK_REFUSE /* if another command holds it */
};

/*
 * Take the lock of `file`; of NULL and "-" there is none, and nothing is done. A file system that
 * has no locks is warned of. EXIT_YES, or EXIT_TROUBLE after having said why.
 */
int file_lock_take(struct file_lock *lock, const struct args *args, const char *file,
                   enum file_lock_patience patience);

/*
 * What a name meant when its lock was taken: a link on the way may lead elsewhere by now, to a file
 * that is not locked. Of a name that this process has not locked, the name itself.
 */
const char *file_lock_place(const char *name);

/* Always allowed, also on all zeros. */
void file_lock_drop(struct file_lock *lock);

#endif
