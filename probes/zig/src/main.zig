//! A probe of Zig's std.crypto.pwhash.pbkdf2: it answers requests for keys
//! until its input ends, and times the derivation alone. See
//! ../../../docs/protocol.md.

const std = @import("std");
const builtin = @import("builtin");
const Io = std.Io;
const hmac = std.crypto.auth.hmac;
const pbkdf2 = std.crypto.pwhash.pbkdf2;

const max_line = 64 << 10; // with its line feed
const max_key = (max_line - 28) / 2; // what surely fits an answer

var line_buffer: [max_line]u8 = undefined;
var answer_buffer: [max_line]u8 = undefined;
var salt_buffer: [max_line / 2]u8 = undefined;
var password_buffer: [max_line / 2]u8 = undefined;
var key_buffer: [max_key]u8 = undefined;

pub fn main(init: std.process.Init) !void {
    const io = init.io;
    var stdin = Io.File.stdin().readerStreaming(io, &line_buffer);
    var stdout = Io.File.stdout().writerStreaming(io, &answer_buffer);
    const input = &stdin.interface;
    const output = &stdout.interface;

    try output.print("pbkdf2-probe/1 zig version={s} toolchain=zig-{s} mode={t} cpu={s} sha256={s}", .{
        builtin.zig_version_string, builtin.zig_version_string, builtin.mode, builtin.cpu.model.name, sha256,
    });
    while (true) {
        try output.writeByte('\n');
        try output.flush();
        if (input.takeDelimiterInclusive('\n')) |line| {
            try answer(io, output, line[0 .. line.len - 1]);
        } else |err| switch (err) {
            error.EndOfStream => return,
            error.ReadFailed => return err,
            error.StreamTooLong => {
                _ = input.discardDelimiterInclusive('\n') catch |e| return if (e != error.EndOfStream) e;
                try output.writeAll("error the request is over 64 KiB");
            },
        }
    }
}

/// Writes the answer to one request, without its line feed.
fn answer(io: Io, output: *Io.Writer, request: []const u8) !void {
    const key, const elapsed = derive(io, request) catch |err| return output.print("error {s}", .{switch (err) {
        error.UnknownRequest => "unknown request: send derive PRF ITERATIONS KEY_BYTES SALT_HEX PASSWORD_HEX",
        error.UnknownPrf => "unknown prf: use sha1, sha256 or sha512",
        error.BadIterations => "iterations: send 1 to 4294967295",
        error.BadKeyBytes => std.fmt.comptimePrint("key bytes: send 1 to {d}", .{max_key}),
        error.BadSalt => "salt: send two lower-case hex digits a byte, or - for none",
        error.BadPassword => "password: send two lower-case hex digits a byte, or - for none",
        else => @errorName(err), // the library's
    }});
    try output.print("key {x} ns {d}", .{ key, elapsed.nanoseconds });
}

fn derive(io: Io, request: []const u8) !struct { []const u8, Io.Duration } {
    var words = std.mem.splitScalar(u8, request, ' ');
    if (!std.mem.eql(u8, words.first(), "derive")) return error.UnknownRequest;
    const prf = std.meta.stringToEnum(enum { sha1, sha256, sha512 }, words.next() orelse "") orelse return error.UnknownPrf;
    const iterations = number(words.next()) orelse return error.BadIterations;
    const key_bytes = number(words.next()) orelse return error.BadKeyBytes;
    if (key_bytes > max_key) return error.BadKeyBytes;
    const salt = unhex(&salt_buffer, words.next()) orelse return error.BadSalt;
    const password = unhex(&password_buffer, words.next()) orelse return error.BadPassword;
    const key = key_buffer[0..key_bytes];

    const start = Io.Clock.awake.now(io);
    try switch (prf) {
        .sha1 => pbkdf2(key, password, salt, iterations, hmac.HmacSha1),
        .sha256 => pbkdf2(key, password, salt, iterations, hmac.sha2.HmacSha256),
        .sha512 => pbkdf2(key, password, salt, iterations, hmac.sha2.HmacSha512),
    };
    return .{ key, start.untilNow(io, .awake) };
}

/// A decimal from 1 to 2^32-1; parseInt alone would take a sign and _.
fn number(word: ?[]const u8) ?u32 {
    const digits = word orelse return null;
    for (digits) |c| if (!std.ascii.isDigit(c)) return null;
    const n = std.fmt.parseInt(u32, digits, 10) catch return null;
    return if (n > 0) n else null;
}

/// The bytes of a word; - is none.
fn unhex(buffer: []u8, word: ?[]const u8) ?[]const u8 {
    const hex = word orelse return null;
    if (std.mem.eql(u8, hex, "-")) return buffer[0..0];
    if (hex.len == 0) return null;
    for (hex) |c| if (std.ascii.isUpper(c)) return null;
    return std.fmt.hexToBytes(buffer, hex) catch null;
}

/// What std.crypto hashes SHA-256 with: instructions, where the CPU that this
/// was built for has them.
const sha256 = switch (builtin.cpu.arch) {
    .x86_64 => if (builtin.cpu.hasAll(.x86, &.{ .sha, .avx2 })) "sha-ni" else "portable",
    .aarch64 => if (builtin.cpu.has(.aarch64, .sha2)) "sha2" else "portable",
    else => "portable",
};
