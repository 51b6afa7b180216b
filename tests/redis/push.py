#!/usr/bin/python3
"""push and pull on real servers.
Usage: push.py MODULE COMMAND [test_NAME ...]"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from server import Server, Tests, free_port  # noqa: E402

MODULE = os.path.abspath(sys.argv[1])
COMMAND = os.path.abspath(sys.argv[2])
KEEPS = "the server keeps what it had"

# Every kind that a server takes, and how it is built.
KINDS = {
    "flat": ["--layout", "flat"],
    "blocked": ["--layout", "blocked"],
    "paired": ["--layout", "paired"],
    "partitioned": ["--layout", "partitioned"],
    "counting": ["--kind", "counting"],
    "fingerprint": ["--kind", "fingerprint"],
    "generalized": ["--kind", "generalized", "--bits", "100k"],
    "recycling": ["--kind", "recycling", "--bits", "100k", "--fp", "1%"],
    "growing": ["--grow"],
    "chain": ["--grow", "--kind", "chain"],
    "yesno": ["--kind", "yesno", "--bits", "100k", "--avoid", "others"],
    "cascade": ["--kind", "cascade", "--avoid", "others"],
}


class Folder:
    """A folder of its own, with keys in it."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="tepal-push-")
        self.write("keys", "".join("m%d\n" % i for i in range(5000)))
        self.write("others", "".join("s%d\n" % i for i in range(5000)))
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def write(self, name, text):
        with open(os.path.join(self.path, name), "w") as f:
            f.write(text)

    def bytes(self, name):
        with open(os.path.join(self.path, name), "rb") as f:
            return f.read()

    def start(self, *words, **environment):
        return subprocess.Popen([COMMAND] + list(words), cwd=self.path, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env=dict(os.environ, **environment))

    def run(self, *words, **environment):
        """The exit status, and what was printed on either output."""
        child = self.start(*words, **environment)
        out, err = child.communicate(timeout=60)
        return child.returncode, out + err

    def large(self, name, seed):
        """40 MB: ten parts."""
        code, said = self.run("build", "keys", "-o", name, "--bits", "320M", "--seed", str(seed),
                              "-q")
        assert code == 0, said


def at(server, key="x"):
    return ["--server", "127.0.0.1:%d" % server.port, "--key", key]


def test_every_kind_there_and_back(t):
    with Server(MODULE) as s, Folder() as f:
        c = s.client()
        for kind, options in KINDS.items():
            code, said = f.run("build", "keys", "-o", kind, "--seed", "9", "-q", *options)
            t.check("%s: built" % kind, code == 0, said)
            t.equal("%s: push" % kind, f.run("push", kind, *at(s, kind), "-q"), (0, ""))
            t.equal("%s: the server verifies it" % kind, c("TEPAL.VERIFY", kind), "OK")
            t.equal("%s: pull" % kind, f.run("pull", *at(s, kind), "-o", "back", "-f", "-q"),
                    (0, ""))
            t.check("%s: byte for byte" % kind, f.bytes("back") == f.bytes(kind))
            if kind not in ("generalized", "recycling"):
                t.equal("%s: finds" % kind, sum(c("TEPAL.MEXISTS", kind, *["m%d" % i for i in
                                                                           range(5000)])), 5000)
        # What the server changed comes back changed: the same as if the command had added it.
        c("TEPAL.ADD", "blocked", "more")
        f.write("more", "more\n")
        f.run("pull", *at(s, "blocked"), "-o", "back", "-f", "-q")
        f.run("add", "blocked", "more", "-q")
        t.check("a filter that was added to", f.bytes("back") == f.bytes("blocked"))
        f.run("build", "keys", "-o", "z", "--compress", "zstd", "--layout", "flat", "--seed", "9",
              "-q")
        t.equal("a compressed file", f.run("push", "z", *at(s, "z"), "-q"), (0, ""))
        t.check("is the same there", c("TEPAL.GET", "z") == f.bytes("flat"))


def test_refusals(t):
    with Server(MODULE) as s, Server(None) as plain, Folder() as f:
        c = s.client()
        f.run("build", "keys", "-o", "f", "--seed", "1", "-q")
        f.run("build", "keys", "-o", "g", "--seed", "2", "-q")
        t.equal("no module", f.run("push", "f", *at(plain)), (2, "tepal: x: the server has no tepal "
                "module (load tepal-redis.so into it); %s\n" % KEEPS))
        t.equal("no module: pull", f.run("pull", *at(plain), "-o", "o")[0], 2)
        c("SET", "x", "a string")
        t.equal("another type", f.run("push", "f", *at(s)), (2, "tepal: x: what the server has there "
                "is not a filter; %s\n" % KEEPS))
        t.equal("another type: pull", f.run("pull", *at(s), "-o", "o"), (
            2, "tepal: x: what the server has there is not a filter; nothing was written\n"))
        t.equal("it is still there", c("GET", "x"), b"a string")
        t.equal("if-present, and it is not", f.run("push", "f", *at(s, "y"), "--if-present")[0], 1)
        t.equal("nothing came of it", c("EXISTS", "y"), 0)
        t.equal("if-absent", f.run("push", "f", *at(s, "y"), "--if-absent", "-q"), (0, ""))
        t.equal("if-absent again", f.run("push", "g", *at(s, "y"), "--if-absent"), (
            1, "y: there is a filter already; nothing was changed\n"))
        t.equal("if-present", f.run("push", "g", *at(s, "y"), "--if-present", "-q"), (0, ""))
        t.check("the second is there", c("TEPAL.GET", "y") == f.bytes("g"))
        code, said = f.run("push", "f", *at(s, "y"), "--max-fp", "0.1%")
        t.check("max-fp", code == 2 and "the limit is 0.1 %" in said and said.endswith(
            "; %s\n" % KEEPS), said)
        t.check("the second is still there", c("TEPAL.GET", "y") == f.bytes("g"))
        c("CONFIG", "SET", "tepal.max-filter-bytes", "1000")
        code, said = f.run("push", "f", *at(s, "y"))
        t.check("beyond max-filter-bytes", code == 2 and said.endswith("; %s\n" % KEEPS), said)
        t.check("the second is there yet", c("TEPAL.GET", "y") == f.bytes("g"))
        t.equal("no such database", f.run("push", "f", *at(s), "--db", "99")[0], 2)
        c("CONFIG", "SET", "tepal.max-filter-bytes", "0")
        c("CONFIG", "SET", "maxmemory", "1")
        code, said = f.run("push", "f", *at(s, "y"))
        t.equal("out of memory", (code, said), (2, "tepal: y: the server has no memory left for it "
                                                   "(maxmemory); %s\n" % KEEPS))
        c("CONFIG", "SET", "maxmemory", "0")
        t.equal("another database", f.run("push", "f", *at(s, "y"), "--db", "3", "-q"), (0, ""))
        c("SELECT", 3)
        t.check("is where it went", c("TEPAL.GET", "y") == f.bytes("f"))


def test_login(t):
    with Folder() as f, Server(MODULE, settings=[("unixsocket", os.path.join(f.path, "sock"))]) as s:
        c = s.client()
        f.run("build", "keys", "-o", "f", "--seed", "1", "-q")
        f.write("pw", "s3cret word\n")
        f.write("wrong", "other\n")
        t.equal("a local socket", f.run("push", "f", "--server", "unix:sock", "--key", "x", "-q"),
                (0, ""))
        c("ACL", "SETUSER", "ops", "on", ">s3cret word", "~x", "+tepal.part", "+tepal.get")
        c("CONFIG", "SET", "requirepass", "front door")
        t.check("a password is wanted", "wants a password" in f.run("push", "f", *at(s))[1])
        t.equal("from the environment", f.run("push", "f", *at(s), "-q",
                                              TEPAL_PASSWORD="front door"), (0, ""))
        t.equal("as redis-cli has it", f.run("pull", *at(s), "-o", "o", "-q",
                                             REDISCLI_AUTH="front door"), (0, ""))
        user = ["--user", "ops", "--password-file"]
        t.equal("a user", f.run("push", "f", *at(s), "-q", *user, "pw"), (0, ""))
        t.equal("a user pulls", f.run("pull", *at(s), "-o", "o", "-f", "-q", *user, "pw"), (0, ""))
        code, said = f.run("push", "f", *at(s), *user, "wrong")
        t.check("a wrong password", code == 2 and "WRONGPASS" in said and "other" not in said, said)
        code, said = f.run("push", "f", *at(s, "y"), *user, "pw")
        t.check("another key", code == 2 and "NOPERM" in said, said)


def certificates(f):
    """An authority, and a certificate of a server that is called tepal.test."""
    def openssl(*words):
        subprocess.run(["openssl"] + list(words), cwd=f.path, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    f.write("names", "subjectAltName=DNS:tepal.test\n")
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-days", "2", "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.crt")
    for name in ("server", "client"):
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-subj", "/CN=" + name, "-keyout", name + ".key", "-out", name + ".csr")
        openssl("x509", "-req", "-in", name + ".csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-days",
                "2", "-CAcreateserial", "-extfile", "names", "-out", name + ".crt")


def test_tls(t):
    with Folder() as f:
        if not shutil.which("openssl"):
            print("skipped: no openssl to make certificates with")
            t.check("skipped", True)
            return
        certificates(f)
        port = free_port()
        with Server(MODULE, settings=[
                ("tls-port", str(port)), ("tls-cert-file", f.path + "/server.crt"),
                ("tls-key-file", f.path + "/server.key"), ("tls-ca-cert-file", f.path + "/ca.crt"),
                ("tls-auth-clients", "yes")]) as s:
            f.large("f", 1)
            to = ["--server", "127.0.0.1:%d" % port, "--key", "x", "--tls"]
            own = ["--cert", "client.crt", "--cert-key", "client.key"]
            trust = ["--cacert", "ca.crt", "--tls-name", "tepal.test"]
            t.equal("push", f.run("push", "f", *to, *own, *trust, "-q"), (0, ""))
            t.equal("pull", f.run("pull", "-o", "o", *to, *own, *trust, "-q"), (0, ""))
            t.check("byte for byte", f.bytes("f") == f.bytes("o"))
            code, said = f.run("push", "f", *to, *own)
            t.check("an authority that is not trusted", code == 2 and
                    "the server's certificate is not accepted" in said, said)
            code, said = f.run("push", "f", *to, *own, "--cacert", "ca.crt")
            t.check("a server of another name", code == 2 and "IP address mismatch" in said, said)
            code, said = f.run("push", "f", *to, *own, "--cacert", "ca.crt", "--tls-name", "other")
            t.check("a server of another name", code == 2 and "hostname mismatch" in said, said)
            code, said = f.run("push", "f", *to, *trust, "--timeout", "1s")
            t.check("no certificate of the client's own", code == 2 and "TLS" in said, said)
            code, said = f.run("push", "f", *to, *own, "--cacert", "nix")
            t.check("no file of authorities", code == 2 and "nix" in said, said)
            code, said = f.run("push", "f", "--server", "127.0.0.1:%d" % s.port, "--key", "x",
                               "--tls", *own, *trust, "--timeout", "1s")
            t.check("TLS to a port without", code == 2 and "no answer within 1 s" in said, said)
            code, said = f.run("push", "f", "--server", "127.0.0.1:%d" % port, "--key", "x",
                               "--timeout", "1s")
            t.check("no TLS to a port with it", code == 2, said)


def test_a_server_that_dies(t):
    """kill -9 at many moments of push and pull: the file stays, and after a restart the server has
    the old filter or the new one, whole."""
    with Folder() as f, Server(MODULE, settings=[("appendonly", "yes"),
                                                 ("appendfsync", "always")]) as s:
        f.large("old", 1)
        f.large("new", 2)
        t.equal("the old one", f.run("push", "old", *at(s), "-q"), (0, ""))
        for i in range(4):
            child = f.start("push", "new", *at(s), "--timeout", "300ms")
            time.sleep(0.02 + 0.03 * i)
            s.kill()
            said = child.communicate(timeout=30)[1]
            ended = child.returncode
            s.start()
            has = s.client()("TEPAL.GET", "x")
            t.check("kill %d: old or new" % i, has in (f.bytes("old"), f.bytes("new")))
            if ended == 0 or KEEPS in said:
                t.check("kill %d: what was said is so" % i,
                        has == f.bytes("new" if ended == 0 else "old"), ended, said)
            else:
                t.check("kill %d: it is not known" % i, "the new filter or the old one" in said,
                        said)
            f.run("push", "old", *at(s), "-q")
        shutil.copy(f.path + "/new", f.path + "/o")
        child = f.start("pull", *at(s), "-o", "o", "--timeout", "300ms")
        time.sleep(0.03)
        s.kill()
        said = child.communicate(timeout=30)[1]
        t.check("pull: the file is old or new", f.bytes("o") == f.bytes(
            "old" if child.returncode == 0 else "new"), child.returncode, said)


def test_interrupts(t):
    with Folder() as f, Server(MODULE, settings=[("tepal.part-timeout", "500")]) as s:
        c = s.client()
        f.large("old", 1)
        f.large("new", 2)
        f.run("push", "old", *at(s), "-q")
        for how in (signal.SIGINT, signal.SIGKILL):
            c("CLIENT", "PAUSE", 400, "WRITE")
            child = f.start("push", "new", *at(s))
            time.sleep(0.2)
            child.send_signal(how)
            child.communicate(timeout=30)
            t.check("%s: ends by it" % how, child.returncode == -how, child.returncode)
            time.sleep(0.5)
            t.check("%s: the old filter is there" % how, c("TEPAL.GET", "x") == f.bytes("old"))
        end = time.time() + 20
        while time.time() < end and b"transfers:0" not in c("INFO", "tepal"):
            time.sleep(0.1)
        t.check("abandoned parts are dropped", b"transfers:0" in c("INFO", "tepal"),
                c("INFO", "tepal"))
        t.equal("and push works", f.run("push", "new", *at(s), "-q"), (0, ""))


def test_changes_during_pull(t):
    """A writer all the time: pull has one state of the filter, whole, or says that it has none."""
    with Folder() as f, Server(MODULE) as s:
        f.large("f", 1)
        f.run("push", "f", *at(s), "-q")
        stop = threading.Event()
        c = s.client()

        def write():
            n = 0
            while not stop.is_set():
                c("TEPAL.ADD", "x", "more%d" % n)
                n += 1
        writer = threading.Thread(target=write)
        writer.start()
        code, said = f.run("pull", *at(s), "-o", "o")
        stop.set()
        writer.join()
        t.check("a filter that is written to", code == 2 and "is being changed" in said, said)
        t.check("no file", not os.path.exists(f.path + "/o"))
        t.equal("when nobody writes", f.run("pull", *at(s), "-o", "o", "-q"), (0, ""))
        t.check("it is what the server has", s.client()("TEPAL.GET", "x") == f.bytes("o"))


def test_number_of_parts(t):
    """It is stored by push, found by the others, and another one is refused."""
    with Server(MODULE) as s, Folder() as f:
        c = s.client()
        f.run("split", "keys", "--parts", "4", "-o", "part", "-q")
        files = ["%d.tepal" % i for i in range(4)]
        for i, name in enumerate(files):
            f.run("build", "part.%d" % i, "-o", name, "--fp", "1%", "-q")
        t.equal("push", f.run("push", *files, *at(s), "--parts", "4", "-q"), (0, ""))
        t.equal("stored", c("GET", "{x:parts}"), b"4")
        t.equal("ask finds it", f.run("ask", "keys", *at(s), "-c"), (0, "5000\n"))
        t.equal("pull finds it", f.run("pull", *at(s), "-o", "back", "-q"), (0, ""))
        t.check("all parts", all(f.bytes("back.%d" % i) == f.bytes(files[i]) for i in range(4)))
        code, said = f.run("pull", *at(s), "-o", "-")
        t.check("parts are no stream", code == 2 and "files of their own" in said, said)
        f.write("new", "new1\nnew2\n")
        t.equal("add", f.run("ask", "--add", "new", *at(s), "-q"), (0, ""))
        t.equal("added", f.run("ask", "new", *at(s), "--parts", "4", "-c"), (0, "2\n"))
        for words in (["ask", "keys", "--parts", "5"], ["ask", "--add", "keys", "--parts", "8"],
                      ["pull", "-o", "other", "--parts", "3"],
                      ["push", *files[:2], "--parts", "2"]):
            code, said = f.run(*words, *at(s))
            t.check("%s: another number" % words[0], code == 2 and "has 4 parts, not" in said, said)
        code, said = f.run("push", files[0], *at(s))
        t.check("a whole filter", code == 2 and "has 4 parts: give --parts" in said, said)
        t.equal("nothing was changed", [c("DBSIZE"), c("EXISTS", "x"), c("GET", "{x:parts}")],
                [5, 0, b"4"])
        t.equal("pushed again", f.run("push", *files, *at(s), "--parts", "4", "-q"), (0, ""))
        for bad in ("", "four", "0", "-4", "4 ", "1000001", str(2 ** 64 + 4)):
            c("SET", "{x:parts}", bad)
            code, said = f.run("ask", "keys", *at(s))
            t.check("%r is no number" % bad, code == 2 and "no number of parts" in said, said)
        c("DEL", "{x:parts}")
        c("RPUSH", "{x:parts}", "4")
        code, said = f.run("ask", "keys", *at(s))
        t.check("a list", code == 2 and "no number of parts" in said, said)
        c("DEL", "{x:parts}")
        t.equal("told, not stored", f.run("ask", "keys", *at(s), "--parts", "4", "-c"),
                (0, "5000\n"))
        t.equal("asking stores nothing", c("EXISTS", "{x:parts}"), 0)
        t.equal("adding does", [f.run("ask", "--add", "new", *at(s), "--parts", "4", "-q"),
                                c("GET", "{x:parts}")], [(0, ""), b"4"])
        c("DEL", "{x:parts}")
        c("ACL", "SETUSER", "ops", "on", ">pw", "~*", "+tepal.part", "+tepal.mexists")
        user = dict(TEPAL_PASSWORD="pw")
        code, said = f.run("push", *files, *at(s), "--parts", "4", "--user", "ops", "-q", **user)
        t.check("no right to store it", code == 0 and "no right to SET" in said, said)
        t.equal("no right to read it", f.run("ask", "keys", *at(s), "--parts", "4", "--user", "ops",
                                             "-c", **user), (0, "5000\n"))


if __name__ == "__main__":
    Tests().run([test_every_kind_there_and_back, test_refusals, test_login, test_tls,
                 test_a_server_that_dies, test_interrupts, test_changes_during_pull,
                 test_number_of_parts])
