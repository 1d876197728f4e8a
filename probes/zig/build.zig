const std = @import("std");

pub fn build(b: *std.Build) void {
    // Native by default: which instructions std.crypto uses is settled here.
    const target = b.standardTargetOptions(.{});
    const optimize = b.option(std.builtin.OptimizeMode, "optimize", "Build mode (default: ReleaseSafe)") orelse
        std.builtin.OptimizeMode.ReleaseSafe;
    b.installArtifact(b.addExecutable(.{
        .name = "zig-probe",
        .root_module = b.createModule(.{
            .root_source_file = b.path("src/main.zig"),
            .target = target,
            .optimize = optimize,
        }),
    }));
}
