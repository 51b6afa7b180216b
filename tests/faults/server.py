"""A server that has some filters, as much of one as `tepal pull` needs."""
import socket
import threading


def serve(store):
    """A server that has these filters, for pull: its address."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(16)

    def answer(file):
        line = file.readline()
        if not line:
            raise EOFError
        words = [file.read(int(file.readline()[1:]) + 2)[:-2].decode() for _ in range(int(line[1:]))]
        if words[0] == "GET":
            return b"$-1\r\n"
        if words[0] != "TEPAL.GET":
            return b"-ERR unknown command\r\n"
        data = store[words[1]]
        piece = data[int(words[2]):int(words[2]) + int(words[3])]
        return b"*3\r\n:5\r\n:%d\r\n$%d\r\n%s\r\n" % (len(data), len(piece), piece)

    def talk(connection):
        try:
            file = connection.makefile("rb")
            while True:
                connection.sendall(answer(file))
        except (EOFError, OSError, ValueError):
            connection.close()

    def accept():
        while True:
            threading.Thread(target=talk, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return f"127.0.0.1:{listener.getsockname()[1]}"
