/*
 * settings.c: the settings, as arguments of the module (loadmodule tepal-redis.so NAME VALUE ...)
 * and as `tepal.NAME` of the server's configuration, which goes first.
 *
 * Secret keys are read from a file. Its path can be seen (CONFIG GET tepal.key-file), what is in it
 * cannot: a key is in no reply, no log line and no saved byte. The file has 16 bytes, or keys of 32
 * hexadecimal digits, one on a line; the first is for new filters, the others for those that are
 * there.
 */
#define _DEFAULT_SOURCE
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server.h"

#define MAX_SECRETS 64
#define MAX_PATH    4096

struct settings settings = {.compat = false, .max_filter_bytes = 0, .part_timeout = 60000};

static uint8_t secrets[MAX_SECRETS][TEPAL_KEY_BYTES];
static size_t secret_count;
static char key_file[MAX_PATH];
static struct stat key_stat; /* as it was read */

static int digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One line of 32 digits. */
static bool read_line(const char *line, size_t len, uint8_t key[TEPAL_KEY_BYTES])
{
    while (len > 0 && (line[len - 1] == '\r' || line[len - 1] == ' ')) {
        len--;
    }
    if (len != 2 * TEPAL_KEY_BYTES) {
        return false;
    }
    for (size_t i = 0; i < TEPAL_KEY_BYTES; i++) {
        int high = digit(line[2 * i]);
        int low = digit(line[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        key[i] = (uint8_t)(high * 16 + low);
    }
    return true;
}

/* The keys in `text`; NULL, or what is wrong. */
static const char *read_secrets(const char *text, size_t len)
{
    uint8_t fresh[MAX_SECRETS][TEPAL_KEY_BYTES];
    size_t count = 0;
    if (len == TEPAL_KEY_BYTES) {
        memcpy(fresh[count++], text, TEPAL_KEY_BYTES);
    } else {
        for (size_t at = 0; at < len;) {
            const char *end = memchr(text + at, '\n', len - at);
            size_t line = end == NULL ? len - at : (size_t)(end - (text + at));
            if (line > 0) {
                if (count == MAX_SECRETS) {
                    return "the key file has more than 64 keys";
                }
                if (!read_line(text + at, line, fresh[count++])) {
                    return "the key file must have 16 bytes, or lines of 32 hexadecimal digits";
                }
            }
            at += line + 1;
        }
    }
    if (count == 0) {
        return "the key file is empty";
    }
    memcpy(secrets, fresh, sizeof secrets);
    secret_count = count;
    return NULL;
}

static const char *use_key_file(const char *path, size_t len)
{
    static char text[MAX_SECRETS * (2 * TEPAL_KEY_BYTES + 2) + 1];
    if (len >= sizeof key_file || memchr(path, 0, len) != NULL) {
        return "the path of the key file is too long";
    }
    if (len == 0) {
        key_file[0] = 0;
        secret_count = 0;
        return NULL;
    }
    char name[MAX_PATH];
    memcpy(name, path, len);
    name[len] = 0;
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        return "the key file cannot be opened";
    }
    struct stat opened;
    size_t got = 0;
    ssize_t now;
    bool known = fstat(fd, &opened) == 0;
    while (got < sizeof text && (now = read(fd, text + got, sizeof text - got)) > 0) {
        got += (size_t)now;
    }
    (void)close(fd);
    const char *wrong = got == sizeof text ? "the key file is too long" : read_secrets(text, got);
    memset(text, 0, sizeof text);
    if (wrong == NULL) {
        memcpy(key_file, name, len + 1);
        key_stat = known ? opened : (struct stat){0};
    }
    return wrong;
}

/*
 * Reads the file again if it is another one by now. If it cannot be read the keys stay as they are:
 * filters that were opened with them are not lost to a slip of the pen.
 */
static void refresh(void)
{
    struct stat now;
    if (key_file[0] == 0 || stat(key_file, &now) != 0 ||
        (now.st_ino == key_stat.st_ino && now.st_size == key_stat.st_size &&
         now.st_mtim.tv_sec == key_stat.st_mtim.tv_sec &&
         now.st_mtim.tv_nsec == key_stat.st_mtim.tv_nsec)) {
        return;
    }
    const char *wrong = use_key_file(key_file, strlen(key_file));
    if (wrong != NULL) {
        key_stat = now; /* say it once */
        redis.Log(NULL, "warning", "tepal: the keys stay as they were: %s", wrong);
    }
}

const uint8_t *settings_secret(void)
{
    refresh();
    return secret_count > 0 ? secrets[0] : NULL;
}

enum tepal_status settings_unlock(struct tepal_filter *filter)
{
    if (!tepal_filter_needs_key(filter)) {
        return TEPAL_OK;
    }
    refresh();
    for (size_t i = 0; i < secret_count; i++) {
        if (tepal_filter_set_key(filter, secrets[i]) == TEPAL_OK) {
            return TEPAL_OK;
        }
    }
    return secret_count == 0 ? TEPAL_KEY_NEEDED : TEPAL_WRONG_KEY;
}

/* ---- the server's configuration -------------------------------------------------------------- */

static long long get_number(const char *name, void *data)
{
    (void)name;
    return (long long)*(const uint64_t *)data;
}

static int set_number(const char *name, long long value, void *data, struct redis_string **error)
{
    (void)name;
    (void)error;
    *(uint64_t *)data = (uint64_t)value;
    return REDIS_OK;
}

static int get_compat(const char *name, void *data)
{
    (void)name;
    (void)data;
    return settings.compat;
}

static int set_compat(const char *name, int value, void *data, struct redis_string **error)
{
    (void)name;
    (void)data;
    (void)error;
    settings.compat = value != 0;
    return REDIS_OK;
}

static struct redis_string *get_key_file(const char *name, void *data)
{
    static struct redis_string *told; /* the server reads it and does not free it */
    (void)name;
    (void)data;
    if (told != NULL) {
        redis.FreeString(NULL, told);
    }
    told = redis.CreateString(NULL, key_file, strlen(key_file));
    return told;
}

static int set_key_file(const char *name, struct redis_string *value, void *data,
                        struct redis_string **error)
{
    size_t len;
    const char *path = redis.StringPtrLen(value, &len);
    const char *wrong = use_key_file(path, len);
    (void)name;
    (void)data;
    if (wrong != NULL) {
        *error = redis.CreateString(NULL, wrong, strlen(wrong));
        return REDIS_ERR;
    }
    return REDIS_OK;
}

int settings_register(struct redis_ctx *ctx)
{
    const long long most = INT64_MAX;
    bool done =
        redis.RegisterNumericConfig(ctx, "max-filter-bytes", (long long)settings.max_filter_bytes,
                                    REDIS_CONFIG_MEMORY, 0, most, get_number, set_number, NULL,
                                    &settings.max_filter_bytes) == REDIS_OK &&
        redis.RegisterNumericConfig(ctx, "part-timeout", (long long)settings.part_timeout,
                                    REDIS_CONFIG_DEFAULT, 100, 86400000, get_number, set_number,
                                    NULL, &settings.part_timeout) == REDIS_OK &&
        redis.RegisterStringConfig(ctx, "key-file", key_file, REDIS_CONFIG_DEFAULT, get_key_file,
                                   set_key_file, NULL, NULL) == REDIS_OK &&
        redis.RegisterBoolConfig(ctx, "compat", settings.compat, REDIS_CONFIG_IMMUTABLE, get_compat,
                                 set_compat, NULL, NULL) == REDIS_OK &&
        redis.LoadConfigs(ctx) == REDIS_OK;
    return done ? REDIS_OK : REDIS_ERR;
}

const char *settings_arguments(struct redis_string **argv, int argc)
{
    for (int i = 0; i < argc; i += 2) {
        size_t len = 0;
        const char *value = i + 1 < argc ? redis.StringPtrLen(argv[i + 1], &len) : NULL;
        uint64_t number;
        if (value == NULL) {
            return "arguments are pairs: NAME VALUE";
        }
        if (word_is(argv[i], "compat")) {
            settings.compat = word_is(argv[i + 1], "yes");
            if (!settings.compat && !word_is(argv[i + 1], "no")) {
                return "compat is yes or no";
            }
        } else if (word_is(argv[i], "max-filter-bytes")) {
            if (!word_u64(argv[i + 1], &number) || number > INT64_MAX) {
                return "max-filter-bytes is a number of bytes";
            }
            settings.max_filter_bytes = number;
        } else if (word_is(argv[i], "part-timeout")) {
            if (!word_u64(argv[i + 1], &number) || number < 100 || number > 86400000) {
                return "part-timeout is a number of milliseconds, 100 to 86400000";
            }
            settings.part_timeout = number;
        } else if (word_is(argv[i], "key-file")) {
            const char *wrong = use_key_file(value, len);
            if (wrong != NULL) {
                return wrong;
            }
        } else {
            return "arguments are compat, max-filter-bytes, part-timeout and key-file";
        }
    }
    return NULL;
}
