/* packed.c: source and decoder in, encoder and compressor out. */
#define _POSIX_C_SOURCE 200809L
#include "files/packed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

#include "files/atomic_file.h"
#include "input/source.h"
#include "system/late.h"

#define LIBZ(X) X(deflateInit2_) X(deflate) X(deflateEnd)
#define LIBZSTD(X)                                                                                 \
    X(ZSTD_createCStream)                                                                          \
    X(ZSTD_initCStream)                                                                            \
    X(ZSTD_CCtx_setParameter) X(ZSTD_compressStream2) X(ZSTD_freeCStream) X(ZSTD_isError)
LATE_LIBRARY(libz, LIBZ, "libz.so.1")
LATE_LIBRARY(libzstd, LIBZSTD, "libzstd.so.1")

#define PIECE      ((size_t)1 << 16)
#define GZIP_LEVEL 9
#define ZSTD_LEVEL 12

/* ---- in -------------------------------------------------------------------------------------- */

enum packed_look packed_look(const char *path)
{
    const char *why;
    char byte;
    struct stat about;
    if (stat(path, &about) != 0) {
        return errno == ENOENT ? PACKED_NOT : PACKED_UNKNOWN;
    }
    if (!S_ISREG(about.st_mode)) {
        return PACKED_NOT;
    }
    struct source *source = source_open(path, false, &why);
    bool fine = source != NULL && (source_read(source, &byte, 1), source_error(source) == 0);
    /* damaged ones count too: whoever reads it shall say so */
    bool packed = fine && source_packed(source);
    source_close(source);
    return packed ? PACKED_SO : fine ? PACKED_NOT : PACKED_UNKNOWN;
}

static enum tepal_status fault(struct tepal_error *error, const char *why, uint64_t at)
{
    *error = (struct tepal_error){.status = TEPAL_CORRUPT, .offset = at, .why = why};
    return TEPAL_CORRUPT;
}

/* Everything that the source has, through a decoder that is made when the first bytes are there. */
static enum tepal_status decode(struct source *source, uint64_t most, struct tepal_filter **out,
                                struct tepal_error *error)
{
    struct tepal_decoder *decoder = NULL;
    enum tepal_status status = TEPAL_OK;
    uint64_t done = 0;
    char piece[PIECE];
    ssize_t n;
    do {
        n = source_read(source, piece, sizeof piece);
        if (n < 0 && source_error(source) != 0) {
            *error = (struct tepal_error){.status = TEPAL_IO, .system = source_error(source)};
            status = TEPAL_IO;
        } else if (n < 0) {
            status = fault(error, source_why(source), done);
        } else if (decoder == NULL) {
            most = source_packed(source) ? most : 0;
            status = tepal_decoder_create(most, NULL, &decoder, error);
        }
        if (status == TEPAL_OK && n > 0) {
            status = tepal_decoder_feed(decoder, piece, (size_t)n, error);
            done += (uint64_t)n;
        }
    } while (status == TEPAL_OK && n > 0);
    if (status == TEPAL_OK) {
        status = tepal_decoder_finish(decoder, out, error);
    }
    tepal_decoder_free(decoder);
    return status;
}

enum tepal_status packed_load(const char *path, uint64_t most, struct tepal_filter **out,
                              struct tepal_error *error)
{
    const char *why;
    struct source *source = source_open(path, false, &why);
    if (source == NULL) {
        *error = (struct tepal_error){.status = TEPAL_IO, .system = errno};
        return TEPAL_IO;
    }
    enum tepal_status status = decode(source, most, out, error);
    source_close(source);
    return status;
}

/* ---- out ------------------------------------------------------------------------------------- */

/* One of the two, and room for what it makes. */
struct packer {
    struct out *out;
    z_stream gzip;
    ZSTD_CStream *zstd; /* NULL: gzip */
    char room[PIECE];
};

static bool begin(struct packer *p, bool zstd)
{
    if (!zstd) {
        return libz.deflateInit2_(&p->gzip, GZIP_LEVEL, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY,
                                  ZLIB_VERSION, (int)sizeof p->gzip) == Z_OK;
    }
    p->zstd = libzstd.ZSTD_createCStream();
    return p->zstd != NULL &&
           !libzstd.ZSTD_isError(libzstd.ZSTD_initCStream(p->zstd, ZSTD_LEVEL)) &&
           !libzstd.ZSTD_isError(libzstd.ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_checksumFlag, 1));
}

static bool pack_zstd(struct packer *p, const void *bytes, size_t len, bool last)
{
    ZSTD_inBuffer in = {bytes, len, 0};
    size_t left;
    do {
        ZSTD_outBuffer to = {p->room, sizeof p->room, 0};
        left = libzstd.ZSTD_compressStream2(p->zstd, &to, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (libzstd.ZSTD_isError(left)) {
            return false;
        }
        out_bytes(p->out, p->room, to.pos);
    } while (last ? left != 0 : in.pos < in.size);
    return true;
}

static bool pack_gzip(struct packer *p, void *bytes, size_t len, bool last)
{
    p->gzip.next_in = bytes;
    p->gzip.avail_in = (uInt)len;
    do {
        p->gzip.next_out = (Bytef *)p->room;
        p->gzip.avail_out = sizeof p->room;
        int result = libz.deflate(&p->gzip, last ? Z_FINISH : Z_NO_FLUSH);
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
            return false;
        }
        out_bytes(p->out, p->room, sizeof p->room - p->gzip.avail_out);
    } while (p->gzip.avail_out == 0);
    return true;
}

static int pack(const struct args *args, const struct tepal_filter *filter, bool zstd,
                struct out *out)
{
    if (!(zstd ? libzstd_load() : libz_load())) {
        return args_about(args, zstd ? "libzstd.so.1" : "libz.so.1",
                          "not installed, and needed to compress");
    }
    struct packer *p = calloc(1, sizeof *p);
    char piece[PIECE];
    uint64_t bytes = tepal_encoded_bytes(filter);
    bool fine = p != NULL;
    if (fine) {
        p->out = out;
        fine = begin(p, zstd);
    }
    for (uint64_t at = 0; at < bytes && fine;) {
        size_t len = bytes - at < PIECE ? (size_t)(bytes - at) : PIECE;
        fine = tepal_encode_range(filter, at, piece, len, NULL) == TEPAL_OK;
        at += len;
        fine = fine && (zstd ? pack_zstd(p, piece, len, at == bytes)
                             : pack_gzip(p, piece, len, at == bytes));
    }
    if (p != NULL) {
        if (zstd) {
            libzstd.ZSTD_freeCStream(p->zstd);
        } else {
            (void)libz.deflateEnd(&p->gzip);
        }
        free(p);
    }
    return fine ? EXIT_YES : args_no_memory(args);
}

int packed_save(const struct args *args, const struct tepal_filter *filter, const char *path,
                bool *in_place)
{
    bool zstd = strcmp(arg(args, "compress")->text, "zstd") == 0;
    struct atomic_file file = {.path = NULL};
    if (strcmp(path, "-") == 0) {
        struct out *out = out_open(STDOUT_FILENO);
        int code = out == NULL ? EXIT_TROUBLE : out_close(out, pack(args, filter, zstd, out));
        *in_place = code == EXIT_YES;
        return code;
    }
    int code = atomic_file_open(&file, args, path);
    code = code == EXIT_YES ? pack(args, filter, zstd, file.out) : code;
    code = code == EXIT_YES ? atomic_file_finish(&file, args) : code;
    code = code == EXIT_YES ? atomic_file_commit(&file, args, NULL) : code;
    *in_place = file.named;
    atomic_file_free(&file);
    return code;
}
