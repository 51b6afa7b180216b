/* stream.h: receiving what is compressed, or comes through a pipe. */
#ifndef TOOL_COMMANDS_RECEIVE_STREAM_H
#define TOOL_COMMANDS_RECEIVE_STREAM_H

#include <tepal/receive.h>

/*
 * As tepal_receive_fd, of the bytes that are decompressed if they are compressed. The header is
 * judged before more is decompressed, and then no more than it says.
 */
enum tepal_status receive_stream(int fd, const struct tepal_terms *terms, struct tepal_filter **out,
                                 struct tepal_judgement *judgement, struct tepal_error *error);

#endif
