/* secret.c: reads a key file, and wipes what it read. */
#define _POSIX_C_SOURCE 200809L
#include "input/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "input/keys.h"
#include "input/retry.h"
#include "system/bytes.h"

#define MOST 64

static ssize_t slurp(int fd, char *text, size_t room)
{
    size_t used = 0;
    while (used < room) {
        ssize_t n = read(fd, text + used, room - used);
        if (n == 0) {
            break;
        }
        if (n < 0 && !retry_io(fd, POLLIN)) {
            return -1;
        }
        used += n > 0 ? (size_t)n : 0;
    }
    return (ssize_t)used;
}

static int decode(const struct args *args, const char *path, const char *text, size_t len,
                  uint8_t key[TEPAL_KEY_BYTES])
{
    size_t place;
    if (len == TEPAL_KEY_BYTES) {
        memcpy(key, text, TEPAL_KEY_BYTES);
        return EXIT_YES;
    }
    /* What editors put around it: a byte order mark, blanks, line ends. */
    size_t begin = keys_mark(text, len);
    size_t end = len;
    while (begin < end && memchr(" \t\r\n", text[begin], 4) != NULL) {
        begin++;
    }
    while (begin < end && memchr(" \t\r\n", text[end - 1], 4) != NULL) {
        end--;
    }
    struct key hex = {text + begin, end - begin};
    if (hex.len != 2 * TEPAL_KEY_BYTES) {
        return args_about(args, path,
                          "not a secret key: 16 raw bytes or 32 hexadecimal digits are needed, and "
                          "the file has %s%zu bytes",
                          len == MOST ? "at least " : "", len);
    }
    if (keys_unhex(&hex, key, &place) != NULL) {
        return args_about(args, path, "not a secret key: character %zu is not a hexadecimal digit",
                          begin + place);
    }
    return EXIT_YES;
}

int secret_read(const struct args *args, const char *path, uint8_t key[TEPAL_KEY_BYTES])
{
    char text[MOST];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return args_about(args, path, "%s", strerror(errno));
    }
    ssize_t len = slurp(fd, text, sizeof text);
    int error = errno;
    close(fd);
    if (len < 0) {
        return args_about(args, path, "%s", strerror(error));
    }
    int code = decode(args, path, text, (size_t)len, key);
    bytes_wipe(text, sizeof text);
    return code;
}
