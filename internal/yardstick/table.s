//go:build amd64 || (arm64 && (linux || darwin))

#include "textflag.h"

// The round constants, four a row, for both assembly kernels. The message is
// always 32 bytes, so its padding (words 8 to 15: 1<<31, zeros, the length of
// 768 bits) is added to rows 2 and 3 already; rows 16 and 17 are the padding
// itself, which the schedule needs. The linker aligns symbols of this size to
// 32 bytes, so that no row crosses a cache line.

DATA ·table+0x000(SB)/4, $0x428a2f98; DATA ·table+0x004(SB)/4, $0x71374491
DATA ·table+0x008(SB)/4, $0xb5c0fbcf; DATA ·table+0x00c(SB)/4, $0xe9b5dba5
DATA ·table+0x010(SB)/4, $0x3956c25b; DATA ·table+0x014(SB)/4, $0x59f111f1
DATA ·table+0x018(SB)/4, $0x923f82a4; DATA ·table+0x01c(SB)/4, $0xab1c5ed5
DATA ·table+0x020(SB)/4, $0x5807aa98; DATA ·table+0x024(SB)/4, $0x12835b01
DATA ·table+0x028(SB)/4, $0x243185be; DATA ·table+0x02c(SB)/4, $0x550c7dc3
DATA ·table+0x030(SB)/4, $0x72be5d74; DATA ·table+0x034(SB)/4, $0x80deb1fe
DATA ·table+0x038(SB)/4, $0x9bdc06a7; DATA ·table+0x03c(SB)/4, $0xc19bf474
DATA ·table+0x040(SB)/4, $0xe49b69c1; DATA ·table+0x044(SB)/4, $0xefbe4786
DATA ·table+0x048(SB)/4, $0x0fc19dc6; DATA ·table+0x04c(SB)/4, $0x240ca1cc
DATA ·table+0x050(SB)/4, $0x2de92c6f; DATA ·table+0x054(SB)/4, $0x4a7484aa
DATA ·table+0x058(SB)/4, $0x5cb0a9dc; DATA ·table+0x05c(SB)/4, $0x76f988da
DATA ·table+0x060(SB)/4, $0x983e5152; DATA ·table+0x064(SB)/4, $0xa831c66d
DATA ·table+0x068(SB)/4, $0xb00327c8; DATA ·table+0x06c(SB)/4, $0xbf597fc7
DATA ·table+0x070(SB)/4, $0xc6e00bf3; DATA ·table+0x074(SB)/4, $0xd5a79147
DATA ·table+0x078(SB)/4, $0x06ca6351; DATA ·table+0x07c(SB)/4, $0x14292967
DATA ·table+0x080(SB)/4, $0x27b70a85; DATA ·table+0x084(SB)/4, $0x2e1b2138
DATA ·table+0x088(SB)/4, $0x4d2c6dfc; DATA ·table+0x08c(SB)/4, $0x53380d13
DATA ·table+0x090(SB)/4, $0x650a7354; DATA ·table+0x094(SB)/4, $0x766a0abb
DATA ·table+0x098(SB)/4, $0x81c2c92e; DATA ·table+0x09c(SB)/4, $0x92722c85
DATA ·table+0x0a0(SB)/4, $0xa2bfe8a1; DATA ·table+0x0a4(SB)/4, $0xa81a664b
DATA ·table+0x0a8(SB)/4, $0xc24b8b70; DATA ·table+0x0ac(SB)/4, $0xc76c51a3
DATA ·table+0x0b0(SB)/4, $0xd192e819; DATA ·table+0x0b4(SB)/4, $0xd6990624
DATA ·table+0x0b8(SB)/4, $0xf40e3585; DATA ·table+0x0bc(SB)/4, $0x106aa070
DATA ·table+0x0c0(SB)/4, $0x19a4c116; DATA ·table+0x0c4(SB)/4, $0x1e376c08
DATA ·table+0x0c8(SB)/4, $0x2748774c; DATA ·table+0x0cc(SB)/4, $0x34b0bcb5
DATA ·table+0x0d0(SB)/4, $0x391c0cb3; DATA ·table+0x0d4(SB)/4, $0x4ed8aa4a
DATA ·table+0x0d8(SB)/4, $0x5b9cca4f; DATA ·table+0x0dc(SB)/4, $0x682e6ff3
DATA ·table+0x0e0(SB)/4, $0x748f82ee; DATA ·table+0x0e4(SB)/4, $0x78a5636f
DATA ·table+0x0e8(SB)/4, $0x84c87814; DATA ·table+0x0ec(SB)/4, $0x8cc70208
DATA ·table+0x0f0(SB)/4, $0x90befffa; DATA ·table+0x0f4(SB)/4, $0xa4506ceb
DATA ·table+0x0f8(SB)/4, $0xbef9a3f7; DATA ·table+0x0fc(SB)/4, $0xc67178f2
DATA ·table+0x100(SB)/4, $0x80000000; DATA ·table+0x104(SB)/4, $0x00000000
DATA ·table+0x108(SB)/4, $0x00000000; DATA ·table+0x10c(SB)/4, $0x00000000
DATA ·table+0x110(SB)/4, $0x00000000; DATA ·table+0x114(SB)/4, $0x00000000
DATA ·table+0x118(SB)/4, $0x00000000; DATA ·table+0x11c(SB)/4, $0x00000300
GLOBL ·table(SB), RODATA|NOPTR, $288
