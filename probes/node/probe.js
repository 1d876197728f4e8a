#!/usr/bin/env node
// A probe of Node's crypto.pbkdf2Sync: it answers requests for keys until its
// input ends, and times the derivation alone. See ../../docs/protocol.md.
'use strict';

const { pbkdf2Sync } = require('node:crypto');
const { readSync, writeSync } = require('node:fs');

const MAX_LINE = 64 << 10; // with its line feed
const MAX_KEY = (MAX_LINE - 28) / 2; // what surely fits an answer

// Reads and writes block: streams would bring in the event loop and its
// threads.
const input = Buffer.alloc(MAX_LINE);
let from = 0; // what is unread lies in input between the two
let to = 0;

// readLine is a line without its line feed, null for one that is too long,
// undefined at the end of the input.
function readLine() {
  let whole = true;
  for (let looked = from; ; ) {
    const end = input.subarray(0, to).indexOf(10, looked);
    if (end >= 0) {
      const line = whole ? input.toString('latin1', from, end) : null;
      from = end + 1;
      return line;
    }
    if (from > 0) {
      input.copyWithin(0, from, to);
      to -= from;
      from = 0;
    }
    if (to === MAX_LINE) {
      whole = false;
      to = 0;
    }
    looked = to;
    const n = readSync(0, input, to, MAX_LINE - to, null);
    if (n === 0) return undefined;
    to += n;
  }
}

function writeLine(line) {
  const bytes = Buffer.from(line + '\n', 'latin1');
  for (let done = 0; done < bytes.length; ) done += writeSync(1, bytes, done);
}

function hello() {
  const words = {
    version: process.versions.node,
    toolchain: `v8-${process.versions.v8}`,
    // the mode is what reports show of a change beside version and toolchain
    mode: `${process.config.target_defaults?.default_configuration ?? 'unknown'},openssl-${process.versions.openssl}`,
    openssl: process.versions.openssl,
  };
  const said = Object.entries(words).map(([key, word]) => `${key}=${word.replace(/[^!-~]/g, '_')}`);
  return ['pbkdf2-probe/1', 'node', ...said].join(' ');
}

function respond(request) {
  try {
    const { key, ns } = derive(request);
    return `key ${key.toString('hex')} ns ${ns}`;
  } catch (error) { // ours, or the library's
    return `error ${String(error.message).replace(/\s+/g, ' ')}`;
  }
}

function derive(request) {
  const words = request.split(' ');
  if (words[0] !== 'derive' || words.length < 6) {
    throw new Error('unknown request: send derive PRF ITERATIONS KEY_BYTES SALT_HEX PASSWORD_HEX');
  }
  const prf = words[1];
  if (!['sha1', 'sha256', 'sha512'].includes(prf)) {
    throw new Error('unknown prf: use sha1, sha256 or sha512');
  }
  const iterations = number('iterations', words[2], 2 ** 32 - 1);
  const keyBytes = number('key bytes', words[3], MAX_KEY);
  const salt = unhex('salt', words[4]);
  const password = unhex('password', words[5]);

  const start = process.hrtime.bigint();
  const key = pbkdf2Sync(password, salt, iterations, keyBytes, prf);
  return { key, ns: process.hrtime.bigint() - start };
}

function number(name, word, most) {
  const n = /^[0-9]{1,10}$/.test(word) ? Number(word) : 0;
  if (n < 1 || n > most) throw new Error(`${name}: send 1 to ${most}`);
  return n;
}

function unhex(name, word) {
  if (word === '-') return Buffer.alloc(0);
  if (word.length % 2 !== 0 || !/^[0-9a-f]+$/.test(word)) {
    throw new Error(`${name}: send two lower-case hex digits a byte, or - for none`);
  }
  return Buffer.from(word, 'hex');
}

let answer = hello();
for (;;) {
  writeLine(answer);
  const line = readLine();
  if (line === undefined) break;
  answer = line === null ? 'error the request is over 64 KiB' : respond(line);
}
