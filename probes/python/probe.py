#!/usr/bin/env python3
"""A probe of Python's hashlib.pbkdf2_hmac: it answers requests for keys until
its input ends, and times the derivation alone. See ../../docs/protocol.md."""

import gc
import hashlib
import platform
import re
import ssl
import sys
import sysconfig
import time

MAX_LINE = 64 << 10  # with its line feed
MAX_KEY = (MAX_LINE - 28) // 2  # what surely fits an answer
HEX = re.compile(rb"(?:[0-9a-f]{2})+")


def main():
    gc.disable()  # nothing here makes cycles
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    answer = hello()
    while True:
        answers.write(answer.encode("ascii", "replace") + b"\n")
        answers.flush()
        line = requests.readline(MAX_LINE)
        if line.endswith(b"\n"):
            answer = respond(line[:-1])
        elif len(line) == MAX_LINE:
            while line and not line.endswith(b"\n"):
                line = requests.readline(MAX_LINE)
            answer = "error the request is over 64 KiB"
        else:  # the end of the input
            return


def hello():
    openssl = ssl.OPENSSL_VERSION.removeprefix("OpenSSL ").split(" ")[0]
    words = {
        "version": platform.python_version(),
        "toolchain": platform.python_compiler(),
        # the mode is what reports show of a change beside version and toolchain
        "mode": ("debug" if sysconfig.get_config_var("Py_DEBUG") else "release") + ",openssl-" + openssl,
        "openssl": openssl,
    }
    said = (f"{key}={re.sub('[^!-~]', '_', word)}" for key, word in words.items())
    return " ".join(["pbkdf2-probe/1 python", *said])


def respond(request):
    try:
        key, ns = derive(request)
    except Exception as error:  # ours, or the library's
        return "error " + (" ".join(str(error).split()) or type(error).__name__)
    return f"key {key.hex()} ns {ns}"


def derive(request):
    words = request.split(b" ")
    if words[0] != b"derive" or len(words) < 6:
        raise ValueError("unknown request: send derive PRF ITERATIONS KEY_BYTES SALT_HEX PASSWORD_HEX")
    prf = words[1].decode("ascii", "replace")
    if prf not in ("sha1", "sha256", "sha512"):
        raise ValueError("unknown prf: use sha1, sha256 or sha512")
    iterations = number("iterations", words[2], 2**32 - 1)
    key_bytes = number("key bytes", words[3], MAX_KEY)
    salt = unhex("salt", words[4])
    password = unhex("password", words[5])

    start = time.perf_counter_ns()
    key = hashlib.pbkdf2_hmac(prf, password, salt, iterations, key_bytes)
    return key, time.perf_counter_ns() - start


def number(name, word, most):
    if not word.isdigit() or len(word) > 10 or not 1 <= int(word) <= most:
        raise ValueError(f"{name}: send 1 to {most}")
    return int(word)


def unhex(name, word):
    if word == b"-":
        return b""
    if not HEX.fullmatch(word):
        raise ValueError(f"{name}: send two lower-case hex digits a byte, or - for none")
    return bytes.fromhex(word.decode())


main()
