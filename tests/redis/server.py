"""A real server with the module on a free loopback port, and a small client of its protocol (RESP2
and RESP3): what the tests of the module share. A server is stopped by its process id, and a timer
ends everything that takes too long."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time


class Error(Exception):
    """An error reply."""


def encode(words):
    out = [b"*%d\r\n" % len(words)]
    for word in words:
        if isinstance(word, str):
            word = word.encode()
        elif isinstance(word, (int, float)):
            word = repr(word).encode()
        out.append(b"$%d\r\n%s\r\n" % (len(word), word))
    return b"".join(out)


class Client:
    def __init__(self, port, protocol=2, timeout=60):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""
        if protocol == 3:
            self("HELLO", 3)

    def close(self):
        self.socket.close()

    def _more(self):
        data = self.socket.recv(1 << 20)
        if not data:
            raise ConnectionError("the server closed the connection")
        self.buffer += data

    def _line(self):
        while True:
            end = self.buffer.find(b"\r\n")
            if end >= 0:
                line, self.buffer = self.buffer[:end], self.buffer[end + 2:]
                return line
            self._more()

    def _exactly(self, count):
        parts = [self.buffer]
        have = len(self.buffer)
        while have < count:
            data = self.socket.recv(1 << 20)
            if not data:
                raise ConnectionError("the server closed the connection")
            parts.append(data)
            have += len(data)
        whole = b"".join(parts)
        self.buffer = whole[count:]
        return whole[:count]

    def reply(self):
        line = self._line()
        kind, rest = line[:1], line[1:]
        if kind == b"+":
            return rest.decode()
        if kind == b"-":
            return Error(rest.decode(errors="replace"))
        if kind == b":":
            return int(rest)
        if kind == b",":
            return float(rest)
        if kind == b"#":
            return rest == b"t"
        if kind == b"_":
            return None
        if kind in (b"$", b"="):
            count = int(rest)
            return None if count < 0 else self._exactly(count + 2)[:-2]
        if kind in (b"*", b"~", b">"):
            count = int(rest)
            return None if count < 0 else [self.reply() for _ in range(count)]
        if kind == b"%":
            return dict((self.reply(), self.reply()) for _ in range(int(rest)))
        raise ValueError("an unknown reply: %r" % line)

    def send(self, *words):
        self.socket.sendall(encode(words))

    def __call__(self, *words):
        """One command; an error is raised."""
        self.send(*words)
        answer = self.reply()
        if isinstance(answer, Error):
            raise answer
        return answer

    def fails(self, *words):
        """The text of the error that a command gives; None if it gives none."""
        self.send(*words)
        answer = self.reply()
        return str(answer) if isinstance(answer, Error) else None

    def pipeline(self, commands):
        """Many commands in one go; errors are in the list."""
        answers = []
        for at in range(0, len(commands), 500):
            some = commands[at:at + 500]
            self.socket.sendall(b"".join(encode(words) for words in some))
            answers += [self.reply() for _ in some]
        return answers


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """A server of its own in a folder of its own; `with` stops it."""

    def __init__(self, module, program=None, arguments=(), settings=(), folder=None, port=None):
        self.module = module
        self.program = program or os.environ.get("TEPAL_SERVER", "redis-server")
        self.arguments = list(arguments)
        self.settings = list(settings)
        self.folder = folder or tempfile.mkdtemp(prefix="tepal-redis-")
        self.own = folder is None
        self.process = None
        self.wanted = port  # None: a free one at each start
        self.start()

    def start(self, wait=True):
        self.port = self.wanted or free_port()
        self.log = os.path.join(self.folder, "log")
        words = [self.program, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
                 "--dir", self.folder, "--logfile", self.log, "--daemonize", "no",
                 "--enable-debug-command", "yes"]
        for name, value in self.settings:
            words += ["--" + name] + (value if isinstance(value, list) else [value])
        if self.module:
            words += ["--loadmodule", self.module] + self.arguments
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if wait:
            self.ready()
        return self

    def ready(self, seconds=60):
        end = time.time() + seconds
        while time.time() < end:
            if self.process.poll() is not None:
                raise RuntimeError("the server ended with %d:\n%s" %
                                   (self.process.returncode, self.text()))
            try:
                client = Client(self.port)
                try:
                    if client("PING") == "PONG":
                        return
                finally:
                    client.close()
            except Error:  # it is loading
                pass
            except OSError:
                pass
            time.sleep(0.02)
        raise RuntimeError("the server did not come up")

    def text(self):
        with open(self.log, errors="replace") as f:
            return f.read()

    def client(self, protocol=2, timeout=60):
        return Client(self.port, protocol, timeout)

    def stop(self, how=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def kill(self):
        self.stop(signal.SIGKILL)

    def restart(self, how=signal.SIGTERM):
        self.stop(how)
        return self.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        if self.own:
            shutil.rmtree(self.folder, ignore_errors=True)


def flat(pairs):
    """A map as RESP2 gives it."""
    if isinstance(pairs, dict):
        return {k.decode(): v for k, v in pairs.items()}
    return {pairs[i].decode(): pairs[i + 1] for i in range(0, len(pairs), 2)}


class Tests:
    """Named checks, counted; each test is a function."""

    def __init__(self):
        self.passed = self.failed = 0

    def check(self, what, holds, *shown):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print("not ok: %s %s" % (what, " ".join(repr(s)[:300] for s in shown)), flush=True)
        return holds

    def equal(self, what, got, want):
        return self.check(what, got == want, got, want)

    def error(self, what, client, begins, *words):
        got = client.fails(*words)
        return self.check(what, got is not None and got.startswith(begins), got, begins)

    def run(self, tests, seconds=110):
        """Runs functions, or those that the arguments name; ends the process."""
        signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(
            TimeoutError("took longer than %d s" % seconds)))
        signal.alarm(seconds)
        # Who was started in the background may have been told to ignore it, and so would its children.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        wanted = [word for word in sys.argv[1:] if word.startswith("test_")]
        for test in tests:
            if wanted and test.__name__ not in wanted:
                continue
            begun = time.time()
            try:
                test(self)
            except Exception as problem:  # pylint: disable=broad-except
                import traceback
                traceback.print_exc(file=sys.stdout)
                self.check("%s: %s" % (test.__name__, problem), False)
            if "--times" in sys.argv:
                print("%-30s %.2f s" % (test.__name__, time.time() - begun))
        print("%d passed, %d failed" % (self.passed, self.failed))
        sys.exit(self.failed > 0 or self.passed == 0)
