//! A probe of ring's `pbkdf2::derive`: it answers requests for keys until its
//! input ends, and times the derivation alone. See ../../docs/protocol.md.

use std::io::{self, BufRead, Read, Write};
use std::num::NonZeroU32;
use std::panic::{self, AssertUnwindSafe};
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use ring::pbkdf2;

const NAME: &str = "ring";
const MAX_LINE: usize = 64 << 10; // with its line feed
const MAX_KEY: u32 = (MAX_LINE as u32 - 28) / 2; // what surely fits an answer

fn main() -> io::Result<()> {
    panic::set_hook(Box::new(|_| {})); // the answer says it
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    let mut answer = format!(
        "pbkdf2-probe/1 {NAME} version={} toolchain={} mode={}",
        env!("PROBE_VERSION"),
        env!("PROBE_TOOLCHAIN"),
        env!("PROBE_MODE"),
    );
    let mut line = Vec::with_capacity(MAX_LINE);
    loop {
        answer.push('\n');
        output.write_all(answer.as_bytes())?;
        output.flush()?;

        line.clear();
        input
            .by_ref()
            .take(MAX_LINE as u64)
            .read_until(b'\n', &mut line)?;
        if line.pop_if(|last| *last == b'\n').is_some() {
            answer = respond(&line);
        } else if line.len() == MAX_LINE {
            input.skip_until(b'\n')?;
            answer = "error the request is over 64 KiB".into();
        } else {
            return Ok(()); // the end of the input
        }
    }
}

/// The answer to one request, without its line feed.
fn respond(request: &[u8]) -> String {
    match derive(request) {
        Ok((key, elapsed)) => format!("key {} ns {}", HEXLOWER.encode(&key), elapsed.as_nanos()),
        Err(message) => format!("error {message}"),
    }
}

fn derive(request: &[u8]) -> Result<(Vec<u8>, Duration), String> {
    let mut words = request.split(|byte| *byte == b' ');
    let mut word = || words.next().unwrap_or_default();
    if word() != b"derive" {
        return Err(
            "unknown request: send derive PRF ITERATIONS KEY_BYTES SALT_HEX PASSWORD_HEX".into(),
        );
    }
    let algorithm = match word() {
        b"sha1" => pbkdf2::PBKDF2_HMAC_SHA1,
        b"sha256" => pbkdf2::PBKDF2_HMAC_SHA256,
        b"sha512" => pbkdf2::PBKDF2_HMAC_SHA512,
        _ => return Err("unknown prf: use sha1, sha256 or sha512".into()),
    };
    let iterations = number(word()).ok_or("iterations: send 1 to 4294967295")?;
    let key_bytes = number(word())
        .filter(|n| n.get() <= MAX_KEY)
        .ok_or(format!("key bytes: send 1 to {MAX_KEY}"))?;
    let salt = unhex(word()).ok_or("salt: send two lower-case hex digits a byte, or - for none")?;
    let password =
        unhex(word()).ok_or("password: send two lower-case hex digits a byte, or - for none")?;

    let mut key = vec![0; key_bytes.get() as usize];
    let elapsed = panic::catch_unwind(AssertUnwindSafe(|| {
        let start = Instant::now();
        pbkdf2::derive(algorithm, iterations, &salt, &password, &mut key);
        start.elapsed()
    }));
    match elapsed {
        Ok(elapsed) => Ok((key, elapsed)),
        Err(_) => Err(format!("{NAME} panicked")),
    }
}

/// A decimal from 1 to 2^32-1; parse alone would take a sign.
fn number(word: &[u8]) -> Option<NonZeroU32> {
    let digits = word.iter().all(u8::is_ascii_digit);
    str::from_utf8(word).ok().filter(|_| digits)?.parse().ok()
}

/// The bytes of a word; - is none.
fn unhex(word: &[u8]) -> Option<Vec<u8>> {
    match word {
        b"-" => Some(Vec::new()),
        b"" => None,
        _ => HEXLOWER.decode(word).ok(),
    }
}
