/* login.c: reads the options, and the password from where nobody else sees it. */
#define _POSIX_C_SOURCE 200809L
#include "server/login.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/retry.h"
#include "system/bytes.h"

bool login_split(const char *address, char *host, size_t host_room, char *port, size_t port_room)
{
    const char *bus = strchr(address, '@'); /* as CLUSTER NODES has it */
    size_t len = bus == NULL ? strlen(address) : (size_t)(bus - address);
    size_t colon = len;
    while (colon > 0 && address[colon - 1] != ':') {
        colon--;
    }
    if (colon == 0) {
        return false;
    }
    const char *name = address;
    size_t name_len = colon - 1;
    if (name_len >= 2 && name[0] == '[' && name[name_len - 1] == ']') {
        name++;
        name_len -= 2;
    }
    size_t digits = strspn(address + colon, "0123456789");
    if (name_len >= host_room || digits == 0 || digits != len - colon || digits > 5 ||
        digits >= port_room) {
        return false;
    }
    memcpy(host, name, name_len);
    host[name_len] = '\0';
    memcpy(port, address + colon, digits);
    port[digits] = '\0';
    return strtoul(port, NULL, 10) <= 65535;
}

/* The first line of the text is the password. */
static int take(const struct args *args, struct login *login, const char *subject, const char *text,
                size_t len)
{
    const char *end = memchr(text, '\n', len);
    len = end == NULL ? len : (size_t)(end - text);
    len -= len > 0 && text[len - 1] == '\r';
    if (len == 0) {
        return args_about(args, subject, "there is no password: the first line is empty");
    }
    if (len > LOGIN_PASSWORD) {
        return args_about(args, subject, "a password has at most %d bytes", LOGIN_PASSWORD);
    }
    memcpy(login->password, text, len);
    login->password_len = len;
    return EXIT_YES;
}

static int read_password(const struct args *args, struct login *login, const char *path)
{
    char text[LOGIN_PASSWORD + 2];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    ssize_t n = -1;
    while (fd >= 0 && used < sizeof text) {
        n = read(fd, text + used, sizeof text - used);
        if (n == 0 || (n < 0 && !retry_io(fd, POLLIN))) {
            break;
        }
        used += n > 0 ? (size_t)n : 0;
    }
    int error = errno;
    if (fd >= 0) {
        close(fd);
    }
    int code = fd < 0 || n < 0 ? args_about(args, path, "%s", strerror(error))
                               : take(args, login, path, text, used);
    bytes_wipe(text, sizeof text);
    return code;
}

static int find_password(const struct args *args, struct login *login)
{
    static const char *const names[] = {"TEPAL_PASSWORD", "REDISCLI_AUTH"};
    if (arg(args, "password-file")->given) {
        return read_password(args, login, arg(args, "password-file")->text);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        if (text != NULL && text[0] != '\0') {
            return take(args, login, names[i], text, strlen(text));
        }
    }
    return EXIT_YES;
}

int login_read(const struct args *args, struct login *login)
{
    static const char *const tls_only[] = {"cacert", "cert", "cert-key", "tls-name"};
    char host[256];
    char port[8];
    memset(login, 0, sizeof *login);
    login->server = arg(args, "server")->text;
    if (!arg(args, "server")->given || !arg(args, "key")->given) {
        return args_error(args, "--server HOST:PORT and --key NAME are needed");
    }
    bool local = strncmp(login->server, "unix:", 5) == 0 && login->server[5] != '\0';
    if (!local &&
        (!login_split(login->server, host, sizeof host, port, sizeof port) || host[0] == '\0')) {
        return args_error(args, "--server: %s is not HOST:PORT, [ADDRESS]:PORT or unix:PATH",
                          login->server);
    }
    login->tls = arg(args, "tls")->given;
    for (size_t i = 0; i < sizeof tls_only / sizeof *tls_only && !login->tls; i++) {
        if (arg(args, tls_only[i])->given) {
            return args_error(args, "--%s needs --tls", tls_only[i]);
        }
    }
    if (arg(args, "cert")->given != arg(args, "cert-key")->given) {
        return args_error(args, "--cert and --cert-key belong together");
    }
    if (arg(args, "db")->given && arg(args, "db")->whole > 0 && arg(args, "parts")->given) {
        return args_error(args, "--db: clusters have the database 0 alone");
    }
    login->user = arg(args, "user")->text;
    login->db = arg_whole(args, "db", 0);
    uint64_t timeout = arg_whole(args, "timeout", 30000);
    login->timeout = timeout > 1000000000 ? 1000000000 : (int)timeout;
    login->cacert = arg(args, "cacert")->text;
    login->cert = arg(args, "cert")->text;
    login->cert_key = arg(args, "cert-key")->text;
    login->tls_name = arg(args, "tls-name")->text;
    int code = find_password(args, login);
    if (code == EXIT_YES && login->user != NULL && login->password_len == 0) {
        code = args_error(args, "--user needs a password: --password-file or TEPAL_PASSWORD");
    }
    return code;
}

void login_forget(struct login *login)
{
    bytes_wipe(login->password, sizeof login->password);
    login->password_len = 0;
}
