"""A server that speaks just enough of the protocol for push, pull and ask, and fails in chosen ways:
fake_server.py MODE [PORT-FILE]. Writes its port to the file when it listens; ends with its standard
input. What is pushed with mode `good` can be pulled and asked."""

import socket
import sys
import threading
import time

MODE = sys.argv[1]
store, staged, counts = {}, {}, {"part": 0, "get": 0}
numbers = {}  # of parts


def read_line(f):
    line = f.readline()
    if not line.endswith(b"\r\n"):
        raise EOFError
    return line[:-2]


def read_command(f):
    return [f.read(int(read_line(f)[1:]) + 2)[:-2] for _ in range(int(read_line(f)[1:]))]


def bulk(data):
    return b"$%d\r\n%s\r\n" % (len(data), data)


def part(words):
    counts["part"] += 1
    lost = {"lost": [2], "lost last": [3], "lost for good": range(2, 1000)}.get(MODE, ())
    if counts["part"] in lost:
        raise EOFError
    if MODE == "memory" and counts["part"] == 2:
        return b"-OOM command not allowed when used memory > 'maxmemory'.\r\n"
    if MODE == "expired" and counts["part"] == 2:
        return b"-NOPART no transfer of this id and total is under way: begin at 0\r\n"
    if MODE == "miscounts":
        return b":17\r\n"
    if words[3] == b"CANCEL":
        return b":1\r\n"
    name, at, total = words[1], int(words[3]), int(words[4])
    if b"NX" in words[6:] and name in store:
        return b"$-1\r\n"
    if at == 0:
        staged[name] = b""
    elif len(staged[name]) != at:
        return b"-OFFSET the next part begins at %d\r\n" % len(staged[name])
    staged[name] += words[5]
    if len(staged[name]) == total:
        store[name] = staged.pop(name)
    if MODE == "answer lost" and counts["part"] == 2:
        raise EOFError
    return b":%d\r\n" % (at + len(words[5]))


def get(words):
    counts["get"] += 1
    if words[1] not in store:
        return b"*-1\r\n"
    data, at, length = store[words[1]], int(words[2]), int(words[3])
    if MODE == "changes" and at > 0:
        return b"-CHANGED the filter has changed since; begin again\r\n"
    if MODE == "changes once" and at > 0 and counts["get"] == 2:
        return b"-CHANGED the filter has changed since; begin again\r\n"
    piece = data[at:at + length]
    if MODE == "flips" and at > 0:
        piece = piece[:100] + bytes([piece[100] ^ 4]) + piece[101:]
    if MODE == "empty":
        piece = b""
    total = len(data) + (1 if MODE == "grows" and at > 0 else 0)
    if MODE == "too much":
        piece = data + b"more"
    return b"*3\r\n:5\r\n:%d\r\n%s" % (total, bulk(piece))


def answer(words):
    name = words[0].upper()
    if MODE == "silent":
        time.sleep(60)
    if MODE == "garbage":
        return b"HTTP/1.1 400 Bad Request\r\n\r\n"
    if MODE == "endless":
        return b"$99999999999\r\n" + b"x" * 100000
    if MODE not in ("circle", "nowhere", "escapes", "password") and name in (b"GET", b"SET"):
        if name == b"SET":
            numbers.setdefault(words[1], words[2])
            return b"+OK\r\n"
        return bulk(numbers[words[1]]) if words[1] in numbers else b"$-1\r\n"
    if MODE == "no module":
        return b"-ERR unknown command '%s', with args beginning with: \r\n" % words[0]
    if MODE == "circle":
        return b"-MOVED 1 127.0.0.1:%d\r\n" % port
    if MODE == "nowhere":
        return b"-MOVED x y\r\n"
    if MODE == "escapes":
        return b"-ERR \x1b[31mred\x07\r\n"
    if MODE == "password" and name != b"AUTH":
        return b"-NOAUTH Authentication required.\r\n"
    if name == b"AUTH":
        return b"+OK\r\n" if words[1:] in ([b"secret"], [b"ops", b"secret"]) \
            else b"-WRONGPASS invalid username-password pair or user is disabled.\r\n"
    if name == b"CLUSTER":
        return b"-ERR This instance has cluster support disabled\r\n"
    if name == b"TEPAL.PART":
        return part(words)
    if name == b"TEPAL.GET":
        return get(words)
    if name in (b"TEPAL.MEXISTS", b"TEPAL.MADD"):
        if MODE == "too few":
            return b"*1\r\n:1\r\n"
        return b"*%d\r\n" % (len(words) - 2) + b"".join(
            b":%d\r\n" % ((int(word) <= 1000) == (name == b"TEPAL.MEXISTS")) for word in words[2:])
    return b"-ERR unknown command\r\n"


def serve(connection):
    f = connection.makefile("rb")
    try:
        while True:
            connection.sendall(answer(read_command(f)))
    except (EOFError, OSError, ValueError, IndexError):
        connection.close()


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(16)
port = listener.getsockname()[1]
with open(sys.argv[2], "w") as out:
    out.write("%d\n" % port)


def accept():
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


threading.Thread(target=accept, daemon=True).start()
sys.stdin.read()
